// The OWASP API list of 2023, risk by risk: which areas of the threat model answer it, and what shows it besides.
import type { Promised } from './promised.ts';

type Answer = Promised & { risk: string; areas: readonly string[] };

export const owasp: readonly Answer[] = [
  {
    risk: 'API1 broken object level authorisation',
    areas: ['Tenant isolation'],
    says: 'an object of somebody else is answered like one that there is not',
    shown: {
      'http/every_answer.test.ts': ['404 not_found: another project’s looks like nobody’s'],
    },
  },
  {
    risk: 'API2 broken authentication',
    areas: ['Keys', 'Console', 'Webhooks'],
    says: 'every endpoint and every procedure refuses who does not prove themselves',
    shown: {
      'http/errors.test.ts': ['401 invalid_token: nobody comes in without a token'],
      'admin/procedures.test.ts': ['401 not_signed_in: %s'],
    },
  },
  {
    risk: 'API3 broken object property level authorisation',
    areas: ['Tenant isolation', 'Publishable keys'],
    says: 'schemas are closed: a member that is not declared is refused, by name',
    shown: {
      'http/contract_fuzz.test.ts': [
        'what the schema calls wrong is refused, wherever in a body it stands',
      ],
      'http/openapi.test.ts': [
        'answers are open to members that are still to come, requests are not',
      ],
    },
  },
  {
    risk: 'API4 unrestricted resource consumption',
    areas: ['Resource limits', 'Templates'],
    says: 'overload is refused politely, and memory stays bounded',
    shown: {
      'flows/two_apis.test.ts': [
        '503 overloaded: what is too much is refused politely, and stored once when it is sent again elsewhere',
      ],
    },
  },
  {
    risk: 'API5 broken function level authorisation',
    areas: ['Keys', 'Publishable keys', 'Console'],
    says: 'who may do what is a table, and every route and procedure is held to it',
    shown: {
      'http/errors.test.ts': ['403 wrong_key_type: a publishable key does not do'],
      'admin/roles.test.ts': ['403 role_too_low: it says which role is needed, and which one has'],
    },
  },
  {
    risk: 'API6 unrestricted access to sensitive business flows',
    areas: ['Publishable keys', 'Outgoing connections'],
    says: 'nobody is bombed with mail, by events or by test messages',
    shown: {
      'delivery/limit_hand_offs.test.ts': ['holds however many begin at once'],
      'providers/records.test.ts': [
        '422 recipient_suppressed: nothing is sent to who must be left alone',
      ],
    },
  },
  {
    risk: 'API7 server side request forgery',
    areas: ['Outgoing connections'],
    says: 'nothing is asked within private networks',
    shown: { 'feedback/post_sns.test.ts': ['nobody is asked through a closed network'] },
  },
  {
    risk: 'API8 security misconfiguration',
    areas: ['Logs and errors', 'Supply chain'],
    says: 'wrong settings are refused at start; what is left out is the safe choice',
    shown: {
      'base/config.test.ts': [
        'every problem is named at once',
        'a problem does not show the value that was wrong',
        'a failpoint needs NODE_ENV=test, whatever else it is called',
      ],
    },
  },
  {
    risk: 'API9 improper inventory management',
    areas: [],
    says: 'what is served is what is described, under one versioned prefix, and nothing else',
    shown: {
      'http/openapi.test.ts': ['it describes what the router serves, and nothing else'],
      'hardening/publishable.test.ts': [
        'every endpoint has its version in its path, or is one of these',
      ],
    },
  },
  {
    risk: 'API10 unsafe consumption of APIs',
    areas: ['Webhooks', 'Outgoing connections'],
    says: 'providers may answer whatever they like, as long and as slowly as they like',
    shown: {
      'providers/hostile_smtp.test.ts': [
        'a reply is read up to 64 KiB, and not a line further',
        'connection_failed: a greeting byte by byte behind TLS',
      ],
      'providers/hostile_https.test.ts': ['unknown: a large message is not read to its end'],
    },
  },
];
