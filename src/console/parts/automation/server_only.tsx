import { Checkbox } from '@mantine/core';

type Props = {
  value: 'server' | undefined;
  onChange: (source: 'server' | undefined) => void;
  error?: string | undefined;
};

/** Whether only events that a server key sent count. */
export const ServerOnlyField = ({ value, onChange, error }: Props) => (
  <Checkbox
    label="Only events from your servers"
    description="Anyone can send events with the publishable key of your pages."
    checked={value === 'server'}
    error={error}
    onChange={({ currentTarget }) => onChange(currentTarget.checked ? 'server' : undefined)}
  />
);
