import type { Send } from '../api.ts';

type Known = Pick<Send, 'status' | 'subject' | 'to' | 'content_removed_at' | 'queued_at'>;

const DAY_MS = 86_400_000;

/** How long the content of a send was kept; null while it is. */
const removedAfter = ({ content_removed_at, queued_at }: Known): string | null => {
  if (content_removed_at === null) return null;
  const days = Math.floor((Date.parse(content_removed_at) - Date.parse(queued_at)) / DAY_MS);
  return `removed after ${days} days`;
};

/** States in which a subject is still to come. */
const AHEAD: Send['status'][] = ['queued', 'handing_off'];

/** What one without a subject is called once it has ended: only what may be with a provider keeps its subject. */
const ENDED: Partial<Record<Send['status'], string>> = {
  rejected: 'A send that was rejected',
  not_sent: 'A send that was not sent',
  suppressed: 'A send that was suppressed',
  cancelled: 'A send that was cancelled',
  expired: 'A send that expired',
  failed_render: 'A send whose template failed',
};

/** The subject; or, as the heading of its page, how it stands instead of one. */
export const titleOf = (send: Known): string => {
  const { status, subject, to } = send;
  if (subject !== null) return subject;
  if (to === null) return 'A send whose person was erased';
  if (removedAfter(send) !== null) return `A send whose content was ${removedAfter(send)}`;
  return AHEAD.includes(status)
    ? 'A send without a subject yet'
    : (ENDED[status] ?? 'A send without a subject');
};

/** The same in a list, where its state stands beside it. */
export const subjectOf = (send: Known): string => {
  const { status, subject, to } = send;
  if (subject !== null) return subject;
  if (to === null) return 'subject erased';
  const removed = removedAfter(send);
  if (removed !== null) return removed;
  if (AHEAD.includes(status)) return 'not rendered yet';
  return status === 'failed_render' ? 'never rendered' : 'no subject';
};

/** Why there is no message to look at. */
export const whyUnseen = (send: Known): string => {
  const { status, to } = send;
  if (to === null) return 'its person was erased';
  const removed = removedAfter(send);
  if (removed !== null) return `its content was ${removed}, as Settings → Retention says`;
  if (AHEAD.includes(status)) return 'it was not rendered yet';
  return status === 'failed_render'
    ? 'its template failed'
    : 'it came to its end before it was rendered';
};
