// Who signs in to the Console, and from which pages; what they may do there.
import type { Area } from './promised.ts';

export const consoleArea: Area = {
  area: 'Console',
  promises: [
    {
      says: 'passwords are kept by a memory-hard function',
      shown: {
        'admin/sign_in.test.ts': ['an unknown address is compared at the same cost as a known one'],
        'hardening/console.test.ts': [
          'a password costs at least 32 MiB to try, and each has its own salt',
        ],
      },
    },
    {
      says: 'sessions are random and stored hashed',
      shown: {
        'admin/sessions.test.ts': [
          'the token is stored as a hash only',
          '401: a cookie of another installation opens nothing',
        ],
      },
    },
    {
      says: 'a session needs its proof beside the cookie, which a server at another port does not receive',
      shown: {
        'admin/session_halves.test.ts': [
          'attack: the cookie alone reads nothing, changes nothing and follows no stream',
          'attack: the proof of one session is none of another, and neither is one that is made up',
        ],
        'console/cookies.test.ts': [
          'attack: a page at another port of 127.0.0.1 receives the cookie, and replaying it gives 401',
          'attack: a session cookie that a page at another port plants signs in to no account',
        ],
        'admin/preview.test.ts': ['works for one email, in the session that asked for it'],
      },
    },
    {
      says: 'the cookie is host-only, HTTP-only, same-site, and __Host- and secure where PUBLIC_URL is https',
      shown: {
        'admin/sign_in.test.ts': [
          '200: the right password opens a session in a cookie that only our pages send',
        ],
        'admin/own_origin.test.ts': [
          'the cookies are __Host- and Secure, although this hop of the request is plain http',
          'cookie tossing: a session cookie without the prefix, as a sibling subdomain sets, is ignored',
          'cookie tossing: two session cookies of one name are refused, whichever comes first',
        ],
        'console/cookies.test.ts': [
          'over https the browser keeps __Host- cookies, and signs in with them',
          'cookie tossing: a page of a sibling subdomain cannot replace the session, nor add one that counts',
        ],
        'admin/sessions.test.ts': [
          'session fixation: a token that somebody planted in the browser is never adopted',
        ],
      },
    },
    {
      says: 'the Console and the admin API answer only at PUBLIC_URL',
      shown: {
        'admin/own_origin.test.ts': [
          '403 foreign_host: DNS rebinding, the request names %s',
          '403 foreign_host: DNS rebinding, a name that leads to this machine is not this machine',
          'a mail preview is refused to a foreign host and to a page of another site',
          'clickjacking: no page frames the Console, and nothing of the admin API is readable elsewhere',
        ],
      },
    },
    {
      says: 'calls that need no session take few database sessions, however many come at once',
      shown: {
        'flows/sign_in_flood.test.ts': [
          'attack: 200 parallel calls of %s keep one session; a server key is answered meanwhile',
        ],
        'admin/password_queues.test.ts': [
          'a flood of sign-ins by strangers does not delay people with a session or a known device',
        ],
      },
    },
    {
      says: '/metrics is for its token, or for this machine by its own name',
      shown: {
        'http/metrics_access.test.ts': [
          '401, never 500, to %s',
          'no header is answered 500',
          '401: DNS rebinding, %s',
          '401: a proxy on this machine asks for somebody else, and says so in %s',
        ],
      },
    },
    {
      says: 'the address of a client is what the trusted proxies wrote, never what the client wrote',
      shown: {
        'base/forwarded.test.ts': [
          'whatever a client writes before, the entry of the outermost trusted proxy counts',
          'a list that is shorter than promised names nobody, and no text is taken for an address',
        ],
        'flows/trusted_proxies.test.ts': [
          '1: what somebody sends the proxy about themselves counts for nothing',
          '2: spoofing past the proxies, a header with fewer entries than promised counts for nothing',
          'what to set, and why, where PUBLIC_URL is https and TRUSTED_PROXIES is not set',
        ],
      },
    },
    {
      says: 'every change checks where it comes from',
      shown: {
        'admin/procedures.test.ts': [
          '403 foreign_origin: $name is not taken from another site’s page',
          '405: $name cannot be reached by a link',
        ],
        'admin/sessions.test.ts': [
          '403: a change with a cookie says where it comes from, or is refused',
        ],
        'admin/own_origin.test.ts': [
          '403 foreign_origin: log-out CSRF from %s',
          '403 foreign_origin: the browser says %s, whatever the Origin is',
          '403 foreign_origin: login CSRF, a page of another site signs a browser in',
          '403: an Origin that equals the Host header does not help a foreign host',
        ],
      },
    },
    {
      says: 'wrong passwords are limited per account and origin, per origin and per account, over all processes',
      shown: {
        'admin/sign_in.test.ts': [
          '429 too_many_sign_ins: after ten wrong passwords not even the right one, from there',
          'an account that does not exist is refused after as many wrong passwords, with the same words',
        ],
        'admin/throttle.test.ts': [
          'an origin has 30 wrong sign-ins for all accounts, and then none',
          'a botnet has 50 wrong sign-ins for an account, from however many origins',
          'an origin that is past its limit uses up no account',
          'attempts made at once are counted before any is answered',
        ],
        'admin/lockout.test.ts': [
          'an invitation cannot be used to try the passwords of the account that has its address',
        ],
        'flows/sign_in_limits.test.ts': [
          'two processes count wrong passwords together, and know each other’s devices',
        ],
      },
    },
    {
      says: 'strangers cannot lock an owner out: known browsers and open sessions have limits of their own',
      shown: {
        'admin/lockout.test.ts': [
          'do not lock the owner out at another address',
          'do not block the confirmation of the password in an open session',
          'do not lock out a browser that signed in before, even from the same address',
          'a botnet is stopped, and the owner still signs in with a known browser',
          'wrong confirmations in a session that was stolen do not block signing in',
          'is unknown after its account changed the password elsewhere',
          'that an attacker planted in a browser is worth nothing once its owner signs in',
        ],
        'admin/known_browser.test.ts': [
          'attack: signing in as oneself brings no new guesses for the other account',
          'attack: twenty sign-ins by programs leave the browser of the owner known',
          'attack: its browser has no guesses left of its own',
          'attack: unknown keys, sessions and devices shut out no known device, session or key',
          'attack: a member who confirms without end blocks no sign-in of a known browser',
        ],
        'admin/account.test.ts': [
          '429 too_many_confirmations: ten wrong passwords in one session block that session alone',
        ],
        'admin/password_queues.test.ts': [
          'a flood of sign-ins by strangers does not delay people with a session or a known device',
        ],
      },
    },
    {
      says: 'roles are checked on the server, procedure by procedure',
      shown: {
        'admin/roles.test.ts': [
          'every procedure says whom it is for, and the table says the same',
          'there is no change of a project that a viewer may make',
          '404 not_found: $name knows no project that does not exist',
        ],
      },
    },
    {
      says: 'what is dangerous asks for the password again',
      shown: {
        'admin/account.test.ts': [
          'a new password needs the old one, and ends the other sessions',
          'a key of the API takes the password again, and is shown once',
        ],
        'admin/invitations.test.ts': ['inviting an owner takes the password again'],
        'hardening/console.test.ts': [
          'whatever makes keys, owners or administrators is refused without the password',
          'whatever takes the password again is tried here',
        ],
      },
    },
    {
      says: 'the audit log is only added to',
      shown: {
        'admin/audit.test.ts': [
          'the runtime role can neither change nor remove an entry',
          'where the entry cannot be written, nothing is changed',
        ],
        'http/audited.test.ts': [
          'one entry says which key did what, on what, by which request; a refused one none',
        ],
      },
    },
  ],
};
