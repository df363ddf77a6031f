import { Text } from '@mantine/core';

const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const clock = { hour: '2-digit', minute: '2-digit' } as const;
const day = { month: 'short', day: 'numeric' } as const;
const today = new Intl.DateTimeFormat(undefined, { ...day, ...clock, second: '2-digit' });
const thisYear = new Intl.DateTimeFormat(undefined, { ...day, ...clock });
const before = new Intl.DateTimeFormat(undefined, { ...day, year: 'numeric', ...clock });

/** As exact as it matters: seconds of today, the year of what is of another. */
const inShort = (moment: Date): string => {
  const now = new Date();
  if (moment.toDateString() === now.toDateString()) return today.format(moment);
  return (moment.getFullYear() === now.getFullYear() ? thisYear : before).format(moment);
};

type Props = {
  at: string;
  size?: 'xs' | 'sm';
  /** Paler than what it stands in, unless that has a colour of its own. */
  isDimmed?: boolean;
};

/** A moment in the reader's own time zone; the whole of it on hover. */
export const When = ({ at, size = 'sm', isDimmed = true }: Props) => {
  const moment = new Date(at);
  return (
    <Text
      component="time"
      dateTime={at}
      title={full.format(moment)}
      size={size}
      {...(isDimmed ? { c: 'dimmed' } : {})}
      className="number unbroken"
    >
      {inShort(moment)}
    </Text>
  );
};
