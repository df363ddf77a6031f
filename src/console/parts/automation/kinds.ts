import {
  IconArrowsSplit2,
  IconCalendarTime,
  IconClock,
  IconDoorExit,
  IconGitBranch,
  IconHourglass,
  IconMail,
  IconUserEdit,
  IconWebhook,
} from '@tabler/icons-react';
import type { Kind } from './exits.ts';

export type Look = { word: string; about: string; color: string; Icon: typeof IconMail };

/** What each kind of step is called, and what it is for. */
export const kinds: Record<Kind, Look> = {
  send_email: {
    word: 'Send a mail',
    about: 'One of your templates',
    color: 'cyan',
    Icon: IconMail,
  },
  delay: { word: 'Wait', about: 'So many hours or days', color: 'yellow', Icon: IconClock },
  delay_until: {
    word: 'Wait until',
    about: 'A time of day, a weekday, or a date of theirs',
    color: 'yellow',
    Icon: IconCalendarTime,
  },
  wait_for_event: {
    word: 'Wait for an event',
    about: 'And go another way when it does not come',
    color: 'orange',
    Icon: IconHourglass,
  },
  branch: {
    word: 'Branch',
    about: 'By what is known of the person',
    color: 'grape',
    Icon: IconGitBranch,
  },
  split: {
    word: 'Split',
    about: 'Try several ways, leave some people alone',
    color: 'grape',
    Icon: IconArrowsSplit2,
  },
  update_profile: {
    word: 'Update the profile',
    about: 'Remember something as a trait',
    color: 'teal',
    Icon: IconUserEdit,
  },
  webhook: { word: 'Tell an endpoint', about: 'A signed call', color: 'indigo', Icon: IconWebhook },
  exit: { word: 'Exit', about: 'Leave the automation here', color: 'gray', Icon: IconDoorExit },
};

export const KINDS = Object.keys(kinds) as Kind[];
