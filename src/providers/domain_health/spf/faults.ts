import { toShown } from '../findings.ts';
import { SPF_NAMES_MAX } from './evaluate.ts';
import type { Fault, Use } from './survey.ts';

/** The stable name of a fault. */
export const codeOfFault = ({ kind }: Fault): string =>
  kind === 'unknown' ? 'no_answer' : `spf_${kind}`;

/** Says what is wrong with a record, for its owner. */
export const describeFault = (fault: Fault): string => {
  switch (fault.kind) {
    case 'unknown':
      return fault.why === 'limit'
        ? 'The check reached its limit of DNS queries or time. Check again in a minute.'
        : `The name servers of ${fault.name} did not answer. Check again in a minute.`;
    case 'several':
      return `There are ${fault.count} SPF records at ${fault.domain}, so receivers use none of them.`;
    case 'syntax':
      return `Receivers cannot read the SPF record of ${fault.domain}: "${toShown(fault.term)}" is not a valid term.`;
    case 'no_record':
      return (
        `"${fault.term}" leads to ${fault.domain}, which has no SPF record. ` +
        'Receivers treat the whole record as an error.'
      );
    case 'loop':
      return `SPF records include each other in a loop: ${fault.path.join(' → ')}. Receivers treat that as an error.`;
    case 'exchanges':
      return `"${fault.term}" leads to more than ${SPF_NAMES_MAX} MX records. Receivers treat that as an error.`;
  }
};

/** Says which term lets every server pass. */
export const describeOpen = (by: Use | null): string => {
  const text = by?.text ?? '';
  return by?.term?.mechanism.kind === 'all'
    ? `"${text}" authorizes every server on the Internet. List your senders, then end the record with "-all".`
    : `"${text}" authorizes every server on the Internet. Remove it, or ask its owner to correct it.`;
};
