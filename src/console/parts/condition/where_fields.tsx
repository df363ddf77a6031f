import { ActionIcon, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { NEW_FILTER } from './shapes.ts';
import type { EventFilter } from './shapes.ts';
import { LASTING, TestFields } from './test_fields.tsx';

type WhereProps = {
  where: EventFilter[];
  onChange: (where: EventFilter[]) => void;
  errorAt: (pointer: string) => string | undefined;
  at: string;
};

/** What the properties of an event must be. */
export const WhereFields = ({ where, onChange, errorAt, at }: WhereProps) => (
  <Stack gap="xs">
    {where.map((filter, place) => (
      <Stack key={place} gap={6}>
        <Group gap="xs" align="flex-start" wrap="nowrap">
          <Text size="sm" c="dimmed" mt={7}>
            where
          </Text>
          <TextInput
            aria-label="Property"
            placeholder="property"
            value={filter.property}
            onChange={(event) => {
              const property = event.currentTarget.value;
              onChange(where.map((one, index) => (index === place ? { ...one, property } : one)));
            }}
            error={errorAt(`${at}/where/${place}/property`)}
            spellCheck={false}
            flex={1}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            mt={5}
            aria-label={`Remove the filter on ${filter.property || 'a property'}`}
            onClick={() => onChange(where.filter((_, index) => index !== place))}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Group>
        <TestFields
          test={filter.test}
          only={LASTING}
          onChange={(test) =>
            onChange(
              where.map((one, index) =>
                index === place ? ({ ...one, test } as EventFilter) : one,
              ),
            )
          }
          error={errorAt(`${at}/where/${place}/test`)}
        />
      </Stack>
    ))}
    <Button
      variant="subtle"
      size="compact-xs"
      leftSection={<IconPlus size={12} />}
      style={{ alignSelf: 'flex-start' }}
      onClick={() => onChange([...where, NEW_FILTER])}
    >
      Only where …
    </Button>
  </Stack>
);
