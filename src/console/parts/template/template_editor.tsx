import { Button, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { ReactNode } from 'react';
import { allIssuesOf } from '../../api.ts';
import type { Profile } from '../../api.ts';
import { previewed } from '../../template_queries.ts';
import type { Draft } from '../../template_queries.ts';
import { ForRole } from '../for_role.tsx';
import { Leaving } from '../leaving.tsx';
import { Refused } from '../refused.tsx';
import { toDraft, toFaults } from './draft.ts';
import type { Typed } from './draft.ts';
import { PreviewPane } from './preview_pane.tsx';
import { TemplateFields } from './template_fields.tsx';
import { TestSend } from './test_send.tsx';

const PREVIEW_AFTER_MS = 400;

/** A value, or the last one that was there. */
const useLast = <T,>(value: T | undefined): T | undefined => {
  const [last, setLast] = useState(value);
  if (value !== undefined && value !== last) setLast(value);
  return value ?? last;
};

type Props = {
  projectId: string;
  initial: Typed;
  /** What the button that keeps it says. */
  label: string;
  /** Keeps it; answers whether it was kept. */
  keep: (draft: Draft) => Promise<boolean>;
  isKeeping: boolean;
  error: unknown;
  children?: ReactNode;
};

const Standing = ({ isWrong, isDirty }: { isWrong: boolean; isDirty: boolean }) => (
  <Text size="sm" c="dimmed" role="status">
    {isWrong
      ? 'It cannot be rendered like this: see what is marked.'
      : isDirty
        ? 'Not saved yet.'
        : ''}
  </Text>
);

/** A mail being written, and beside it how it looks for somebody. */
export const TemplateEditor = (props: Props) => {
  const { projectId, initial, keep, isKeeping } = props;
  const [typed, setTyped] = useState(initial);
  const [saved, setSaved] = useState(initial);
  const [profile, setProfile] = useState<Profile | null>(null);
  const draft = useMemo(() => toDraft(typed), [typed]);
  const [settled] = useDebouncedValue(draft, PREVIEW_AFTER_MS);
  const profileId = profile?.id ?? null;
  const look = useQuery(previewed(projectId, settled, profileId));
  const preview = useLast(look.data);
  const faults = toFaults(allIssuesOf(look.error));
  const isDirty = typed !== saved;
  const isKeepable = isDirty && !look.isError && typed.name.trim() !== '';
  const submit = async (): Promise<void> => {
    if (await keep(draft)) setSaved(typed);
  };
  return (
    <Stack>
      <Leaving isDirty={isDirty && !isKeeping} />
      <Group justify="space-between">
        <Standing isWrong={look.isError} isDirty={isDirty} />
        <ForRole projectId={projectId} role="editor" to="to change it">
          <Group gap="xs">
            {props.children}
            <Button loading={isKeeping} disabled={!isKeepable} onClick={() => void submit()}>
              {props.label}
            </Button>
          </Group>
        </ForRole>
      </Group>
      <Refused error={props.error} />
      {look.isError && faults.length === 0 && <Refused error={look.error} />}
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
        <TemplateFields
          typed={typed}
          onType={(change) => setTyped((before) => ({ ...before, ...change }))}
          faults={faults}
        />
        <Stack>
          <PreviewPane
            projectId={projectId}
            preview={preview}
            isLooking={look.isFetching}
            isWrong={look.isError}
            onPick={setProfile}
          />
          <ForRole projectId={projectId} role="editor">
            <TestSend
              projectId={projectId}
              draft={draft}
              profileId={profileId}
              isWrong={look.isError}
            />
          </ForRole>
        </Stack>
      </SimpleGrid>
    </Stack>
  );
};
