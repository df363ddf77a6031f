// What customers write, and what leaves the house: mail, templates, segments, links.
import type { Area } from './promised.ts';

const mail: Area = {
  area: 'E-mail building',
  promises: [
    {
      says: 'sender and recipient are one address each, never parsed from text with names',
      shown: {
        'delivery/message.test.ts': [
          'a name that looks like addresses stays a name',
          'a message reads back as it was written: text, HTML, one recipient',
        ],
      },
    },
    {
      says: 'the envelope is given, not read from the message',
      shown: {
        'providers/smtp.test.ts': ['accepted: arrives byte for byte, with its envelope, once'],
      },
    },
    {
      says: 'a line break, NUL or Unicode separator in what a header holds makes no message',
      shown: {
        'delivery/message.test.ts': ['%s makes no message'],
        'delivery/mail_headers.test.ts': [
          'an address that is no printable ASCII makes no message, nor a header of its own',
        ],
      },
    },
    {
      says: 'the names of headers are a fixed list',
      shown: {
        'delivery/message.test.ts': ['a message has exactly the headers it should, each once'],
      },
    },
    {
      says: 'the mail library reads no file and fetches no address',
      shown: { 'delivery/message.test.ts': ['files and addresses in the content are not fetched'] },
    },
    {
      says: 'there are no attachments, by path or otherwise',
      shown: {
        'hardening/mail.test.ts': [
          '400 invalid_request: no template and no step takes an attachment: %j',
        ],
      },
    },
    {
      says: 'variables are escaped in HTML; raw is a filter that somebody wrote',
      shown: {
        'rendering/render.test.ts': [
          'are escaped in HTML and left alone in subject and text',
          'are raw in HTML only where the template says so',
          'are not templates themselves',
        ],
      },
    },
    {
      says: 'mail comes from the from_email of its provider record, whatever a template, a step or a person says',
      shown: {
        'hardening/mail.test.ts': ['whatever people are called, the sender stays the provider’s'],
      },
    },
  ],
};

const templates: Area = {
  area: 'Templates',
  promises: [
    {
      says: 'a template sees own properties only',
      shown: {
        'rendering/render.test.ts': [
          'are own properties alone: nothing of the language is to be had',
          'named like the language are data',
        ],
      },
    },
    {
      says: 'it includes nothing from disk',
      shown: {
        'rendering/render.test.ts': ['%s is refused'],
        'rendering/mjml.test.ts': ['a file is never read: mj-include of %s is refused'],
      },
    },
    {
      says: 'its size, its output, its nesting and its steps are bounded',
      shown: {
        'rendering/render.test.ts': [
          'a template has at most 256 KiB of characters',
          'what is rendered has at most 512 KiB of characters, HTML and text each',
          '%s fails, and the process goes on',
          'HTML that nests without end fails or is cut when the text is made of it, and nobody dies',
        ],
      },
    },
    {
      says: 'a wall clock outside of the rendering thread ends it, and its memory is bounded',
      shown: {
        'rendering/threads.test.ts': [
          'a task that takes too long is stopped from outside, and says so; no other is lost',
          'memory is bounded by thread: whoever takes more fails alone, and the process lives',
        ],
      },
    },
    {
      says: 'slow templates of some projects do not keep those of another waiting',
      shown: {
        'rendering/threads.test.ts': [
          'attack: a project fills the queue with slow templates, and another is still taken',
          'attack: several projects with slow templates at once leave a thread to the others',
          'a slow turn gives way to another project, and begins again without blame',
        ],
        'rendering/event_variables.test.ts': [
          'attack: automations with a template of thousands of variables do not hold up the process',
        ],
      },
    },
    {
      says: 'one project’s template sees nothing of another’s',
      shown: {
        'rendering/threads.test.ts': [
          'nothing that one project’s template does is seen by another’s',
          'a version is parsed once, and is another in another project',
        ],
      },
    },
  ],
};

const segments: Area = {
  area: 'Segments and filters',
  promises: [
    {
      says: 'no pattern of a customer is run, in the database or here: what looks like one stands for itself',
      shown: {
        'hardening/segments.test.ts': [
          'what looks like a pattern is a text, in SQL as here: %j',
          '400 invalid_request: there is no kind of condition that takes a pattern',
        ],
      },
    },
    {
      says: 'statements end after a time, for each of the service’s roles',
      shown: {
        'hardening/segments.test.ts': ['the statements of both roles end after a time'],
        'analytics/logins.test.ts': [
          'a login reads only, has a time-out and so many connections, and is nobody special',
        ],
      },
    },
  ],
};

const links: Area = {
  area: 'Links',
  promises: [
    {
      says: 'an unsubscribe token is encrypted and authenticated under keys of its own, and reveals no id',
      shown: {
        'suppression/unsubscribe_token.test.ts': [
          'a recipient reads no id in a token, in whatever spelling',
          'two tokens of one project, or of one address, share no prefix and no place',
          'no two links share an IV',
          'a token of which any bit is another says nothing',
          'another installation reads nothing in it',
        ],
        'hardening/mail.test.ts': [
          'an email reveals no id of the project, the person or the provider',
        ],
      },
    },
    {
      says: 'a token has one spelling, in the form of today and in that of emails from before',
      shown: {
        'suppression/unsubscribe_token.test.ts': [
          'a token has one spelling: any other letter at any place, also in unused bits, says nothing',
          'padding, the other alphabet, blanks, escapes and another case say nothing',
          'the MAC of one signed link is that of no other: of another project, address, send or version',
        ],
        'hardening/same_work.test.ts': [
          'a text that is no token of ours costs no statement, however much it looks like one',
          'a token in either form costs the same, whether or not the address is one that we know',
        ],
      },
    },
    {
      says: 'a token of an email from before, and one from before a rotation of MASTER_KEY, keeps working',
      shown: {
        'suppression/unsubscribe_token.test.ts': [
          'the token of an email from before is read as before: this one never changes',
          'after the master key is rotated every token is read: its keys come from the root, which stays',
        ],
        'http/unsubscribe.test.ts': [
          '200: the link of an email from before tokens were encrypted still unsubscribes, and comes back',
        ],
      },
    },
    {
      says: 'it never runs out',
      shown: {
        'suppression/unsubscribe_token.test.ts': [
          'the same link has the same token, in every process and at any time',
        ],
        'http/unsubscribe.test.ts': ['200: erased people leave too, by the key alone'],
      },
    },
    {
      says: 'POST unsubscribes without cookies or log-in; GET only shows a page',
      shown: {
        'http/unsubscribe.test.ts': [
          '200: GET shows whose mail it is and what would happen, and changes nothing however often',
          '200: one click unsubscribes at once, and no queued marketing mail is handed over after it',
        ],
        'http/unsubscribe_page.test.ts': ['it works without scripts'],
      },
    },
    {
      says: 'a link tells nobody whom we know',
      shown: {
        'http/unsubscribe.test.ts': [
          'nobody learns whom we know: of a known address, an erased one and nobody’s the page is the same',
          '200: is said to be incomplete, whatever it is and whatever is asked, and changes nothing',
        ],
      },
    },
    {
      says: 'nothing redirects to where a parameter says, log-in included; links in mails are not rewritten',
      shown: {
        'hardening/redirects.test.ts': [
          'no door leads to where a parameter, a path or a header says',
          'who signs in is led nowhere',
          'who posts anything is led nowhere',
        ],
        'hardening/mail.test.ts': ['a link in a mail arrives as its template has it'],
      },
    },
  ],
};

export const content: readonly Area[] = [mail, templates, segments, links];
