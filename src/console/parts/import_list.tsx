import { Alert, Button, FileInput, Group, List, Modal, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { api } from '../api.ts';
import type { Imported } from '../api.ts';
import { useChange } from '../changes.ts';
import { RefusedList } from './refused_list.tsx';
import { UndoImport } from './undo_import.tsx';

type Props = { projectId: string; isOpen: boolean; onClose: () => void };
type Given = Parameters<typeof api.suppressions.import.mutate>[0]['list'];

const ERRORS_SHOWN = 10;

/** What was pasted or chosen: JSON where it looks like it, else CSV. */
const readList = (text: string): Given => {
  const trimmed = text.trim();
  if (!/^[[{]/.test(trimmed)) return { csv: text };
  const parsed = JSON.parse(trimmed) as Given | unknown[];
  if (!Array.isArray(parsed)) return parsed;
  const addresses = parsed.map((one) => (typeof one === 'string' ? { email: one } : one));
  return { addresses } as Given;
};

const Report = ({
  report,
  projectId,
  onClose,
}: {
  report: Imported;
  projectId: string;
  onClose: () => void;
}) => (
  <Stack>
    <Alert color="teal" role="status" title="The list was taken in">
      Addresses read: {report.addresses.toLocaleString()}. New of them:{' '}
      {report.added.toLocaleString()}.
    </Alert>
    {report.errors.length > 0 && (
      <Alert color="yellow" title="Some of it could not be read">
        <List size="sm">
          {report.errors.slice(0, ERRORS_SHOWN).map(({ line, path, message }) => (
            <List.Item key={line ?? path} className="breaks">
              {line === undefined ? path : `Line ${line}`}: {message}
            </List.Item>
          ))}
        </List>
        {report.errors.length > ERRORS_SHOWN && `and ${report.errors.length - ERRORS_SHOWN} more`}
      </Alert>
    )}
    <Group justify="space-between">
      <UndoImport projectId={projectId} importId={report.import_id} />
      <Button onClick={onClose}>Done</Button>
    </Group>
  </Stack>
);

const Form = ({ projectId, onClose }: Omit<Props, 'isOpen'>) => {
  const [text, setText] = useState('');
  const [isNoJson, setIsNoJson] = useState(false);
  const take = useChange(projectId, ['addresses'], (list: Given) =>
    api.suppressions.import.mutate({ projectId, list }),
  );
  if (take.data) return <Report report={take.data} projectId={projectId} onClose={onClose} />;
  const submit = (): void => {
    try {
      const list = readList(text);
      setIsNoJson(false);
      take.mutate(list);
    } catch {
      setIsNoJson(true);
    }
  };
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        An import only adds: it frees nobody, and weakens no reason that is there. It can be taken
        back as a whole.
      </Text>
      <FileInput
        label="A file"
        placeholder="Choose CSV or JSON"
        accept=".csv,.json,.txt,text/csv,application/json"
        clearable
        onChange={(file) => void file?.text().then(setText)}
      />
      <Textarea
        label="Or the list itself"
        description="CSV with the columns email and, if you like, reason; or JSON."
        placeholder={'email,reason\nann@example.com,unsubscribed\nbob@example.com,hard_bounce'}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        error={isNoJson ? 'This begins like JSON, and is none.' : undefined}
        autosize
        minRows={5}
        maxRows={12}
        styles={{ input: { fontFamily: 'monospace' } }}
      />
      <RefusedList error={take.error} />
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button onClick={submit} disabled={text.trim() === ''} loading={take.isPending}>
          Import
        </Button>
      </Group>
    </Stack>
  );
};

/** A list from elsewhere, and what became of it. */
export const ImportList = ({ isOpen, onClose, projectId }: Props) => (
  <Modal opened={isOpen} onClose={onClose} title="Import a list" size="lg">
    <Form projectId={projectId} onClose={onClose} />
  </Modal>
);
