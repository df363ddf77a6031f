import { Group, NumberInput, Select, TextInput } from '@mantine/core';

export type Scalar = string | number | boolean;
type Type = 'text' | 'number' | 'boolean';

const TYPES = [
  { value: 'text', label: 'text' },
  { value: 'number', label: 'number' },
  { value: 'boolean', label: 'yes/no' },
];

const typeOf = (value: Scalar): Type => {
  if (typeof value === 'number') return 'number';
  return typeof value === 'boolean' ? 'boolean' : 'text';
};

const asType = (value: Scalar, type: Type): Scalar => {
  if (type === 'number') return Number(value) || 0;
  return type === 'boolean' ? value === true || value === 'true' : String(value);
};

type Props = {
  label: string;
  value: Scalar;
  onChange: (value: Scalar) => void;
  /** The one type that may stand here. */
  only?: Type | undefined;
  error?: string | undefined;
};

/** A value and its type: the number 3 is not the text “3”. */
export const ScalarField = ({ label, value, onChange, only, error }: Props) => {
  const type = only ?? typeOf(value);
  return (
    <Group gap={6} wrap="nowrap" align="flex-start">
      {type === 'text' && (
        <TextInput
          aria-label={label}
          placeholder="value"
          value={String(value)}
          onChange={(event) => onChange(event.currentTarget.value)}
          flex={1}
          error={error}
        />
      )}
      {type === 'number' && (
        <NumberInput
          aria-label={label}
          value={Number(value)}
          onChange={(next) => onChange(Number(next) || 0)}
          flex={1}
          error={error}
        />
      )}
      {type === 'boolean' && (
        <Select
          aria-label={label}
          data={['yes', 'no']}
          value={value === true ? 'yes' : 'no'}
          onChange={(next) => onChange(next === 'yes')}
          allowDeselect={false}
          flex={1}
          error={error}
        />
      )}
      {only === undefined && (
        <Select
          aria-label={`${label}: type`}
          data={TYPES}
          value={type}
          onChange={(next) => onChange(asType(value, (next ?? 'text') as Type))}
          allowDeselect={false}
          w={92}
        />
      )}
    </Group>
  );
};
