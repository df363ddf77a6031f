import {
  ActionIcon,
  Autocomplete,
  Button,
  Group,
  Input,
  NumberInput,
  Select,
  Stack,
  TagsInput,
  TextInput,
} from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { eventNames } from '../../automation_queries.ts';
import { ScalarField } from './scalar_field.tsx';
import type { Filter } from './exits.ts';
import { FILTER_TESTS } from './words.ts';

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

const MANY: readonly Filter['is'][] = ['one_of', 'none_of'];
const NUMBERS: readonly Filter['is'][] = ['greater_than', 'at_least', 'less_than', 'at_most'];
const NOTHING: readonly Filter['is'][] = ['exists', 'not_exists'];

const withTest = (filter: Filter, is: Filter['is']): Filter => {
  const { property } = filter;
  const known = 'value' in filter ? filter.value : '';
  if (NOTHING.includes(is)) return { property, is } as Filter;
  if (MANY.includes(is))
    return { property, is, value: Array.isArray(known) ? known : [] } as unknown as Filter;
  if (NUMBERS.includes(is)) return { property, is, value: Number(known) || 0 } as Filter;
  return { property, is, value: Array.isArray(known) ? '' : known } as Filter;
};

type OneProps = {
  filter: Filter;
  what: string;
  onChange: (filter: Filter) => void;
  onRemove: () => void;
};

const ValueField = ({ filter, onChange }: Omit<OneProps, 'onRemove' | 'what'>) => {
  if (!('value' in filter)) return null;
  const set = (value: unknown) => onChange({ ...filter, value } as Filter);
  if (Array.isArray(filter.value))
    return (
      <TagsInput
        aria-label="Values"
        placeholder="Type a value, then press Enter"
        value={filter.value.map(String)}
        onChange={set}
      />
    );
  return (
    <ScalarField
      label="Value"
      value={filter.value}
      onChange={set}
      only={NUMBERS.includes(filter.is) ? 'number' : undefined}
    />
  );
};

const One = ({ filter, what, onChange, onRemove }: OneProps) => (
  <Group align="flex-start" gap={6} wrap="nowrap">
    <Stack gap={6} flex={1} miw={0}>
      <Group gap={6} grow wrap="nowrap">
        <TextInput
          aria-label={what}
          placeholder={what.toLowerCase()}
          value={filter.property}
          onChange={(event) => onChange({ ...filter, property: event.currentTarget.value })}
          spellCheck={false}
        />
        <Select
          aria-label="Test"
          data={FILTER_TESTS}
          value={filter.is}
          onChange={(is) => onChange(withTest(filter, is as Filter['is']))}
          allowDeselect={false}
        />
      </Group>
      <ValueField filter={filter} onChange={onChange} />
    </Stack>
    <ActionIcon
      variant="subtle"
      color="gray"
      mt={5}
      aria-label={`Remove the condition on ${filter.property || what.toLowerCase()}`}
      onClick={onRemove}
    >
      <IconTrash size={16} />
    </ActionIcon>
  </Group>
);

type Filters = Field<Filter[]> & { what?: string };

/** Conditions on properties or traits; all of them must hold. */
export const FiltersField = ({ label, value, onChange, error, what = 'Property' }: Filters) => (
  <Input.Wrapper label={label} error={error} labelElement="div">
    <Stack gap="xs" mt={4}>
      {value.map((filter, at) => (
        <One
          key={at}
          filter={filter}
          what={what}
          onChange={(next) => onChange(value.map((one, place) => (place === at ? next : one)))}
          onRemove={() => onChange(value.filter((_, place) => place !== at))}
        />
      ))}
      <Button
        variant="default"
        size="xs"
        leftSection={<IconPlus size={14} />}
        style={{ alignSelf: 'flex-start' }}
        onClick={() => onChange([...value, { property: '', is: 'equals', value: '' }])}
      >
        Add a condition
      </Button>
    </Stack>
  </Input.Wrapper>
);
