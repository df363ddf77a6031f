// What a stranger cannot have sent, who knows no more than the publishable key of a page.
import type { Area } from './promised.ts';

export const strangers: Area = {
  area: 'Email to strangers',
  promises: [
    {
      says: 'browser-triggered runs send few emails to one recipient, confirmed or not',
      shown: {
        'flows/strangers.test.ts': [
          '40 emails from 40 browser events to one confirmed recipient: three a day, transactional too',
          'plus-addressing, dots and capitals are one mailbox',
        ],
        'delivery/hold_mailboxes.test.ts': [
          'two workers at the bound: of many emails to one mailbox no more go than the cap allows',
        ],
        'automations/browser_triggered.test.ts': [
          'a run of a segment entry knows whether a browser caused it',
          'attack: an entry that a browser’s event causes through update_profile is the browser’s',
        ],
      },
    },
    {
      says: 'email to addresses that only browsers asserted has an hourly budget',
      shown: {
        'flows/strangers.test.ts': [
          '60 foreign addresses: no more than the hourly budget get an email, the others wait, visibly',
        ],
        'delivery/hold_mailboxes.test.ts': [
          'two workers at the bound: of many emails to strangers no more go than the hour allows',
        ],
      },
    },
    {
      says: 'what a browser asserted is rendered without links and cut',
      shown: {
        'flows/strangers.test.ts': [
          'a URL in first_name reaches neither subject, preheader nor body, of a confirmed recipient neither',
        ],
        'rendering/asserted.test.ts': ['%s is taken out'],
      },
    },
    {
      says: 'an unconfirmed address receives nothing that a server or another browser said',
      shown: {
        'flows/unconfirmed_email.test.ts': [
          'traits set by a server do not leak to an address that a browser asserted for a known user id',
          'what the real user typed in their own browser does not go to the address of an attacker',
          'an event of a server tells an unconfirmed address nothing',
          'an address that a server confirms later gets everything again',
        ],
      },
    },
    {
      says: 'a trigger can require that a server sent its event',
      shown: {
        'flows/unconfirmed_email.test.ts': [
          'a trigger that requires a server starts nothing for the event of a browser, and explains that',
        ],
      },
    },
  ],
};
