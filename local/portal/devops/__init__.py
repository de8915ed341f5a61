"""Pull requests and git over HTTP, in the shape of the Azure DevOps Git REST interface, version 7.1.

What the official Python client needs to find, create, read, list, abandon and complete pull requests, to read which
paths one changes, to read files, and to make and delete branches. Not here: policies, reviewers and votes, threads,
labels, forks, more than one project and repository. Shapes and status codes follow the client's models and public code;
they were not compared with the live service.
"""
