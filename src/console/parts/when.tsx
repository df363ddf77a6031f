import { Text } from '@mantine/core';

const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const short = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

/** A moment in the reader's own time zone; the whole of it on hover. */
export const When = ({ at, size = 'sm' }: { at: string; size?: 'xs' | 'sm' }) => {
  const moment = new Date(at);
  return (
    <Text
      component="time"
      dateTime={at}
      title={full.format(moment)}
      size={size}
      c="dimmed"
      className="number unbroken"
    >
      {short.format(moment)}
    </Text>
  );
};
