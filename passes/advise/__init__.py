"""What an author should change: experiments on copies of a kernel, and the time each gains."""
