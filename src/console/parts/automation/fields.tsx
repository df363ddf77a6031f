import { Autocomplete, Group, Input, NumberInput, Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { eventNames } from '../../automation_queries.ts';

type Field<T> = {
  label: string;
  value: T;
  onChange: (value: T) => void;
  error?: string | undefined;
  description?: string | undefined;
};

const UNITS = [
  { value: 'TM', label: 'minutes' },
  { value: 'TH', label: 'hours' },
  { value: 'D', label: 'days' },
  { value: 'W', label: 'weeks' },
  { value: 'M', label: 'months' },
];

const toDuration = (count: number, unit: string): string =>
  unit.startsWith('T') ? `PT${count}${unit.slice(1)}` : `P${count}${unit}`;

const readDuration = (duration: string): { count: number; unit: string } | null => {
  const [, days, day, hours, hour] = /^P(?:(\d+)([DWM])|T(\d+)([HM]))$/.exec(duration) ?? [];
  if (days !== undefined && day !== undefined) return { count: Number(days), unit: day };
  if (hours !== undefined && hour !== undefined) return { count: Number(hours), unit: `T${hour}` };
  return null;
};

/** A length of time: a number and a unit; one that has several is written as it is. */
export const DurationField = ({ label, value, onChange, error, description }: Field<string>) => {
  const read = readDuration(value);
  if (read === null)
    return (
      <TextInput
        label={label}
        description={description ?? 'As ISO 8601, such as P1DT2H'}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        error={error}
      />
    );
  return (
    <Input.Wrapper label={label} description={description} error={error} labelElement="div">
      <Group gap="xs" wrap="nowrap" mt={4}>
        <NumberInput
          aria-label={`${label}: how many`}
          value={read.count}
          onChange={(count) => onChange(toDuration(Number(count) || 0, read.unit))}
          min={0}
          allowDecimal={false}
          allowNegative={false}
          w={100}
          error={error !== undefined}
        />
        <Select
          aria-label={`${label}: unit`}
          data={UNITS}
          value={read.unit}
          onChange={(unit) => onChange(toDuration(read.count, unit ?? 'D'))}
          allowDeselect={false}
          flex={1}
        />
      </Group>
    </Input.Wrapper>
  );
};

/** The name of an event; those that came lately are proposed. */
export const EventField = ({
  projectId,
  error,
  ...field
}: Field<string> & { projectId: string; label: string }) => {
  const { data } = useQuery(eventNames(projectId));
  // What has not been typed yet is no mistake.
  const said = field.value === '' ? { description: 'Its name, in snake_case' } : { error };
  return (
    <Autocomplete
      {...field}
      {...said}
      data={data ?? []}
      placeholder="user_signed_up"
      autoComplete="off"
      spellCheck={false}
    />
  );
};
