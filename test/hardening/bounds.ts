// What anybody can have of us: so much, and so much said.
import type { Area } from './promised.ts';

const limits: Area = {
  area: 'Resource limits',
  promises: [
    {
      says: 'bodies, batches, counts of properties, lengths, pages, rates: documented, and tried at the bound',
      shown: {
        'http/every_limit.test.ts': [
          'every limit in the documents is tried here, and no other',
          'every bound of what callers send is in the documents',
        ],
      },
    },
    {
      says: 'nesting is bounded, and looked at without recursion',
      shown: {
        'base/json_depth.test.ts': ['what would overflow the stack is only deep'],
        'http/errors.test.ts': ['400: nesting of 40,000 levels is no trouble'],
      },
    },
    {
      says: 'packed bodies are refused, or bounded as they are unpacked',
      shown: {
        'hardening/limits.test.ts': [
          '415: a packed body is not unpacked, wherever one is not asked for',
          '413 body_too_large: a bomb is not unpacked past the bound',
        ],
      },
    },
    {
      says: 'headers are bounded in size and in number',
      shown: {
        'http/paths.test.ts': ['headers past the bound, or a path of that size'],
        'http/every_limit.test.ts': ['every limit in the documents is tried here, and no other'],
      },
    },
    {
      says: 'headers, and whole requests, have a time',
      shown: {
        'http/connections.test.ts': [
          'a client that does not hang up is hung up on',
          'a connection without requests is closed without a word',
        ],
        'hardening/limits.test.ts': ['408: who sends a byte now and then is not waited for'],
      },
    },
    {
      says: 'connections at a time are bounded, and those that are there go on',
      shown: {
        'hardening/limits.test.ts': [
          'at CONNECTIONS_MAX all are kept; one past it closes the one that waits longest',
        ],
      },
    },
    {
      says: 'requests per key and sends per provider are bounded',
      shown: {
        'http/shared_limits.test.ts': [
          'two processes keep a limit together within a factor of two, one alone takes it whole',
        ],
        'flows/paced_relays.test.ts': [
          'is kept by two workers together, and what waits goes by itself',
        ],
      },
    },
    {
      says: 'what a template costs is bounded',
      shown: {
        'rendering/threads.test.ts': [
          'a task that takes too long is stopped from outside, and says so; no other is lost',
          'memory is bounded by thread: whoever takes more fails alone, and the process lives',
          'the bound of a mail is the one that is documented',
        ],
        'rendering/render.test.ts': ['%s fails, and the process goes on'],
      },
    },
    {
      says: 'pages go by keys, never by offsets; exports are so many at a time',
      shown: {
        'hardening/source.test.ts': ['no statement pages by an offset'],
        'profiles/export_profile.test.ts': [
          'every event is there once, however many pages they are',
          '429 rate_limited: one export too many at a time; a client that leaves makes room, and holds no connection',
        ],
      },
    },
  ],
};

const logs: Area = {
  area: 'Logs and errors',
  promises: [
    {
      says: 'only listed fields are logged',
      shown: { 'hardening/source.test.ts': ['only these fields are ever logged'] },
    },
    {
      says: 'no body, no credential and no address is logged',
      shown: {
        'http/failures.test.ts': [
          'no address, body, token or URL is logged, whether it goes well or not',
        ],
        'providers/secrets.test.ts': [
          'is in no answer, no line of the log, no job and no row of any table',
        ],
        'base/task.test.ts': ['what the queue keeps of a failure is its kind, never what it says'],
      },
    },
    {
      says: 'what providers say is in no log',
      shown: { 'hardening/classes.test.ts': ['nor is any of it logged'] },
    },
    {
      says: 'errors carry the id of the request, and nothing of the inside',
      shown: {
        'http/failures.test.ts': [
          'says nothing of what broke, and the next request is well',
          'a failure is logged once, with the id that the caller can quote',
        ],
        'admin/limits.test.ts': [
          '500 internal_error: a bug says nothing of itself but the id to ask for',
        ],
      },
    },
  ],
};

export const bounds: readonly Area[] = [limits, logs];
