// What a flood with a publishable key can do, and what it cannot.
import type { Promised } from './promised.ts';

export const floods: readonly Promised[] = [
  {
    says: 'there are limits per key, per address of origin, and per anonymous id, of requests and of their work',
    shown: {
      'http/limits.test.ts': [
        'a publishable key counts per address too, which leaves the key to all others',
        'an address is refused before it uses up its key',
        'an anonymous id counts over all addresses, within its key, with every part that names it',
        'a flood of addresses and anonymous ids takes a bounded number of counters, gone with the window',
      ],
      'http/unit_limits.test.ts': [
        'a Segment batch of identifies is not one request: a publishable key has no units for many',
        'a body that is refused is charged by its size',
      ],
      'hardening/publishable.test.ts': [
        '429 rate_limited: one anonymous id from many addresses, in whatever it is sent',
      ],
    },
  },
  {
    says: 'a flood of a page leaves server keys at least half of the sessions, the queue and the flushes',
    shown: {
      'flows/page_flood.test.ts': [
        '400 parallel Segment batches of 500 identifies with a publishable key: a server key is always answered',
        'the same without any rate limit: pages wait for pages, and a server key is always answered',
      ],
      'base/session_turns.test.ts': [
        'holds at most half of the sessions of a project; its server key has the rest at once',
        'waits in places of its own: one request past them is refused, and a server key still finds room',
      ],
      'ingest/flusher.test.ts': [
        'events of web pages fill half of the queue: one more is refused, and those of a server still fit',
        'events of a server are in the next flush, however many of web pages wait before them',
      ],
    },
  },
  {
    says: 'daily quotas bound the profiles that a key makes and the bytes that it stores',
    shown: {
      'quotas/new_profiles.test.ts': [
        'at the bound new people pass, one past it none, also before a worker has seen them',
        'known devices still pass; a batch with one unknown device stores nothing',
        'exactly at the bound and one past it, in two processes at once; a refused one stores nothing',
      ],
      'quotas/stored_bytes.test.ts': [
        '429 quota_exceeded: stored bytes at the bound, and one past it',
        'attack: identifies that set no traits are rows, too',
        'attack: one event with ever new Idempotency-Keys keeps an answer each time, which counts',
      ],
    },
  },
  {
    says: 'one address uses a share of each daily quota, and leaves the rest to all others',
    shown: {
      'quotas/address_shares.test.ts': [
        'at the bound it is served, one past it refused, and every other address is served',
        'at the bound it is served, one past it refused; duplicates cost nothing',
        'a flood of names takes a bounded amount of memory, and a name that made room counts again',
      ],
    },
  },
  {
    says: 'what a flood leaves in memory is bounded, and takes no room of other projects',
    shown: {
      'quotas/recent_names.test.ts': [
        'one name past the bound: the largest project makes room, and its names still count',
        'several small keys of one project count together against one key of another',
      ],
      'quotas/cycle.test.ts': [
        'a lost database ends a cycle at the first project, and nothing is lost',
      ],
    },
  },
  {
    says: 'several publishable keys of a project share commits',
    shown: {
      'ingest/accept.test.ts': [
        '400 events of two publishable keys in turns share a few flushes, and each note names both keys',
      ],
    },
  },
];
