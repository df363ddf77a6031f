// What we hold, and whom we call: credentials, outgoing connections.
import type { Area } from './promised.ts';

const credentials: Area = {
  area: 'Provider credentials',
  promises: [
    {
      says: 'they are sealed with AES-256-GCM under a random data key per project',
      shown: {
        'base/sealing.test.ts': [
          'every single flipped bit is noticed: nonce, tag and ciphertext',
          'another key does not open it',
        ],
        'providers/credentials.test.ts': [
          'two projects have different data keys, and the same password looks different each time',
          'many first uses at once agree on one data key',
        ],
      },
    },
    {
      says: 'the data key is wrapped by a key outside the database, known by its version',
      shown: {
        'providers/credentials.test.ts': [
          'a project has one data key for all its credentials, and it is not in the database readable',
          'under another master key',
        ],
        'providers/rotation.test.ts': [
          'without the key before it, nothing is lost: it says which one is missing',
        ],
      },
    },
    {
      says: 'each encryption has a fresh random 96-bit nonce',
      shown: {
        'base/sealing.test.ts': [
          'the same secret never looks the same twice, and never like itself',
        ],
      },
    },
    {
      says: 'a ciphertext that is moved does not open: project, record, field and format are bound',
      shown: {
        'providers/credentials.test.ts': [
          'to another record, another field, or another project',
          'to another project together with its data key',
        ],
        'providers/secrets.test.ts': [
          'of one %s record does not open in another',
          'of a record does not open as one of another kind',
        ],
        'base/sealing.test.ts': ['a ciphertext moved to another place does not open'],
      },
    },
    {
      says: 'to rotate the outer key re-wraps data keys only',
      shown: {
        'providers/rotation.test.ts': [
          'after a rotation the new key opens everything, and the old one nothing',
          'rotation under traffic loses nothing',
        ],
        'flows/rotate_master_key.test.ts': [
          'a rotation under traffic loses nothing, goes on where it was killed, and ends the old key',
        ],
      },
    },
    {
      says: 'answers contain masks, never values',
      shown: {
        'providers/records.test.ts': ['201: a %s record, its secret masked'],
        'providers/secrets.test.ts': [
          'is in no answer, no line of the log, no job and no row of any table',
          'would be found: in a text, in bytes, and inside of what was put around it',
        ],
      },
    },
    {
      says: 'a change without a new value keeps the old one, and takes it nowhere else',
      shown: {
        'providers/records.test.ts': ['200: a secret of %s that is left out stays, and works'],
        'providers/secret_again.test.ts': [
          '200: another place with its password, and the same place without',
        ],
      },
    },
    {
      says: 'what deletes a project destroys its data key: so far nothing does',
      shown: {
        'hardening/keys.test.ts': [
          'no door deletes a project; without its data key nothing of it opens',
        ],
      },
    },
    {
      says: 'there is one key per purpose',
      shown: {
        'hardening/keys.test.ts': [
          'every purpose has a key of its own, and none is that of credentials',
        ],
        'base/keys.test.ts': ['keys follow RFC 5869, so that another program can derive them'],
      },
    },
  ],
};

const egress: Area = {
  area: 'Outgoing connections',
  promises: [
    {
      says: 'there is one egress module: nothing else opens a connection to where a customer says',
      shown: {
        'hardening/source.test.ts': ['only the guarded doors open connections, and ask for names'],
      },
    },
    {
      says: 'every address of a name is checked as a number against the blocked ranges',
      shown: {
        'base/egress.test.ts': [
          'the neighbours of closed networks are open',
          'one address outside the list closes a name with several',
        ],
        'base/resolve_host.test.ts': ['one private address among public ones closes it'],
      },
    },
    {
      says: 'DNS queries about names of a customer’s choice are bounded, and none is about a private zone',
      shown: {
        'providers/domain_health/hostile_dns.test.ts': [
          'in queries: at the bound complete, below it unknown',
          'in time: slow name servers use up what there is, and no more',
          'of private zones are not asked for where a public record leads there either',
        ],
      },
    },
    {
      says: 'every form of IPv6 that embeds IPv4 is seen through',
      shown: {
        'base/egress.test.ts': [
          'loopback spelled %s',
          '::ffff:1.1.1.1 is as open as what it carries',
          'an IPv4 network on the list covers its mapped form',
        ],
      },
    },
    {
      says: 'the connection goes to exactly the checked address, its certificate checked against the name',
      shown: {
        'providers/smtp.test.ts': [
          'is checked against the name it was asked for, not the address it went to',
        ],
        'hardening/connects.test.ts': [
          'a name is asked for once for each connection, and closed as soon as it leads inside: %s',
        ],
        'base/get_text.test.ts': [
          'who has no certificate of that name, or one that nobody vouches for',
        ],
      },
    },
    {
      says: 'no redirect is followed, whoever is asked',
      shown: {
        'providers/relay_api.test.ts': ['a redirect is not followed'],
        'hardening/redirects.test.ts': ['nobody whom we ask leads us elsewhere: %s with %i'],
        'feedback/post_sns.test.ts': ['409 topic_not_confirmed: the service would not confirm'],
      },
    },
    {
      says: 'the address is checked again at each connect',
      shown: {
        'base/resolve_host.test.ts': [
          'and again at each connection: what it said before counts for nothing',
        ],
        'hardening/connects.test.ts': [
          'a name is asked for once for each connection, and closed as soon as it leads inside: %s',
        ],
      },
    },
    {
      says: 'private ranges, and SMTP without TLS, are open only where the operator listed them',
      shown: {
        'base/egress.test.ts': [
          'an allowed network is open and says that it is allowed',
          'its neighbours stay closed',
        ],
        'providers/smtp.test.ts': [
          'tls_required: no password goes over a public network in clear, and nobody is connected to',
          'connection_failed: a private address that no setting allows is not even tried',
        ],
      },
    },
    {
      says: 'customers are told a class of failure, never a banner or a body',
      shown: {
        'providers/failures.test.ts': [
          'connection_failed names the setting that opens private networks',
        ],
        'hardening/classes.test.ts': [
          'nothing of what a relay says at %s comes back, saved, tried or sent',
          'nothing of what an API answers comes back, saved, tried or sent',
        ],
      },
    },
    {
      says: 'making providers and testing them is limited',
      shown: {
        'providers/records.test.ts': ['429 rate_limited: a project cannot scan ports'],
        'hardening/classes.test.ts': [
          '429 rate_limited: tests, changes and new providers share one limit',
        ],
      },
    },
    {
      says: 'test emails of providers, templates and automations share a budget per project, person and key',
      shown: {
        'automations/test_emails.test.ts': [
          '429: a key sends 30 test emails of automations an hour, and then none of a provider either',
          '429: all tests share one budget, whichever the caller begins with',
          '429: a person has one budget in the Console, for every procedure that sends a test',
          '429: a project sends 60 test emails in an hour, whoever asks',
          'sends nothing to a suppressed address',
        ],
      },
    },
  ],
};

export const doors: readonly Area[] = [credentials, egress];
