// What a publishable key can and cannot do: any page's source shows one.
import { floods } from './floods.ts';
import type { Area } from './promised.ts';

export const publishable: Area = {
  area: 'Publishable keys',
  promises: [
    {
      says: 'they can only write, and only events and who somebody is',
      shown: {
        'hardening/publishable.test.ts': [
          'what a publishable key may call is this list, and each of it only writes',
        ],
        'profiles/identity_rules.test.ts': [
          'a publishable key never joins two known people, undoes anything, or reads',
        ],
      },
    },
    {
      says: 'they learn nothing of a person, also not whether there is one',
      shown: {
        'profiles/post_identify.test.ts': [
          '202: says nothing about the person, whoever asks',
          '202: a device that is somebody else’s is not moved, and nobody is told',
        ],
        'hardening/publishable.test.ts': [
          'an answer is the same for people who are known, erased or suppressed, and for strangers',
        ],
      },
    },
    {
      says: 'they learn it neither from a quota that is used up, nor from the share of an address',
      shown: {
        'quotas/who_exists.test.ts': [
          '%s: a known, an erased and an unknown person are refused alike, in every process',
          '%s: a browser that was linked before goes on, in every process; with another person it does not',
          'an alias of the Segment-compatible API follows the same rule',
          '%s: a new device with a person needs two places, whether or not the person exists',
          '%s: the last place is gone after one person, whether or not that person exists',
          'a request that finds no room closes the quota, so that the places left cannot be counted',
        ],
        'quotas/address_shares.test.ts': ['%s: attack: past the bound no answer tells who exists'],
      },
    },
    {
      says: 'they use up no message id or Idempotency-Key of a server, and learn no event id of one',
      shown: {
        'hardening/message_ids.test.ts': [
          'through %s: the same id by the other kind of key, through %s, is an event of its own',
          'a publishable identify does not use up the message id of a server identify',
          'a server identify does not use up the message id of a publishable identify',
          'a conflict is noted among the events of one kind of key only',
          '%s: the same key, path and body by both kinds of key are two requests',
          '%s: a client that knows the id of a repetition cannot forge the message id of its events',
          'no message id keeps the service from recording what it observes',
        ],
        'ingest/message_key.test.ts': [
          'one message id has another key for each kind of key, for events and for identifies',
          'no message id has the key of a repetition, whatever it holds',
        ],
      },
    },
    {
      says: 'no key records an event with a name of the service, and what was recorded so before counts nowhere',
      shown: {
        'ingest/reserved_names.test.ts': [
          '400 invalid_request: POST /v1/events refuses %s and names another',
          '400 invalid_request: one reserved name refuses the batch, and each is named',
          '400 invalid_request: the Segment-compatible API refuses %j after translation',
        ],
        'ingest/counts.test.ts': [
          'Postgres and the service agree which events count, whatever they are called',
        ],
        'segments/reserved_events.test.ts': [
          'a row of the past that a client sent makes no member',
          'a row that comes from a client makes no member',
        ],
        'automations/reserved_events.test.ts': [
          'starts no run of an automation whose trigger has its name; one of the service does',
          'does not move a run that waits for its name; one of the service does',
          'is no goal; one of the service is',
          'a simulation neither starts nor moves a run by a row that a client sent',
        ],
      },
    },
    {
      says: 'they keep no device from the person whom a server says it belongs to',
      shown: {
        'profiles/replaced_links.test.ts': [
          'attack: a device is pre-linked to the attacker; %s by a server takes it back',
          'attack: a page takes a device from whom a server gave it, by %s',
          '200: the undo of the server’s link restores the browser’s, and repeats its answer',
        ],
        'flows/any_order.test.ts': [
          'a server’s word of a device counts, in whatever order it and a browser’s come',
          'a server’s link that replaced a browser’s and is undone leaves what there would be without it',
        ],
      },
    },
    {
      says: 'they link a bounded number of devices to a person, and write a bounded number of refusals',
      shown: {
        'identity/find_refusal.test.ts': [
          'attack: a page links devices to a victim without end; past the bound of a day it is refused',
          'attack: links made and undone by turns give a browser no more links a day',
          'attack: a page collects devices for months; past the bound in total each is refused',
          'attack: devices that servers take away give a browser no more links in total',
          'attack: devices linked all at once are counted exactly',
        ],
        'identity/may_log_refusal.test.ts': [
          'attack: a page writes refusals into the log without end, about one person',
          'attack: a page writes refusals into the log without end, about one device',
        ],
      },
    },
    {
      says: 'they never overwrite what a server key set',
      shown: {
        'profiles/post_identify.test.ts': [
          '202: what a server said stands, whatever a page says later',
        ],
        'profiles/fold_profile.test.ts': [
          'an address that a server said is not replaced by a browser',
        ],
      },
    },
    {
      says: 'events and traits remember which kind of key brought them',
      shown: {
        'ingest/post_events/202.test.ts': ['202: an event remembers which kind of key brought it'],
        'profiles/set_traits.test.ts': ['each trait is kept with when it was true and who said it'],
      },
    },
    {
      says: 'an address that only a browser asserted gets few mails until a server confirms it',
      shown: {
        'flows/limits_hold.test.ts': [
          'get it one mail of an automation and three a day in all, until a server says whose it is',
        ],
        'delivery/limit_hand_offs.test.ts': [
          'gets one mail of an automation and three a day, whoever said it; then it is cancelled, and told',
          'gets no second by two that begin at once, together or apart',
        ],
      },
    },
    ...floods,
    {
      says: 'frequency caps per recipient and automation stop mail bombing',
      shown: {
        'delivery/limit_hand_offs.test.ts': [
          'is not passed by two workers at once, whoever of the person the mails are for',
          'holds however many begin at once',
        ],
      },
    },
    {
      says: 'nothing rests on what a page says its origin is',
      shown: {
        'hardening/publishable.test.ts': [
          'whatever page it says that it comes from, or none, a key may do the same',
        ],
        'http/cors.test.ts': [
          '204: any page may post, with a key and without cookies, and need not ask again for a day',
          'the answer of an endpoint for servers is for nobody’s page',
        ],
      },
    },
  ],
};
