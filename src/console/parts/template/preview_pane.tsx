import {
  Alert,
  Group,
  List,
  Loader,
  Paper,
  SegmentedControl,
  Stack,
  Tabs,
  Text,
} from '@mantine/core';
import { useState } from 'react';
import type { Profile } from '../../api.ts';
import type { Preview } from '../../template_queries.ts';
import { PersonPicker } from '../person_picker.tsx';
import { MailFrame } from './mail_frame.tsx';

const WIDTHS = { phone: 375, desktop: 680 };

const Inbox = ({ subject, preheader }: Pick<Preview, 'subject' | 'preheader'>) => (
  <div>
    <Text fw={600} className="breaks" data-testid="subject">
      {subject || '(no subject)'}
    </Text>
    {preheader !== '' && (
      <Text size="sm" c="dimmed" lineClamp={1}>
        {preheader}
      </Text>
    )}
  </div>
);

const Warnings = ({ warnings }: Pick<Preview, 'warnings'>) =>
  warnings.length > 0 && (
    <Alert color="yellow" title="Good to know">
      <List size="sm">
        {warnings.map(({ warning, message }) => (
          <List.Item key={message} data-warning={warning} className="breaks">
            {message}
          </List.Item>
        ))}
      </List>
    </Alert>
  );

type Props = {
  projectId: string;
  preview: Preview | undefined;
  isLooking: boolean;
  isWrong: boolean;
  onPick: (profile: Profile | null) => void;
};

/** The mail as somebody would get it, while it is being written. */
export const PreviewPane = ({ projectId, preview, isLooking, isWrong, onPick }: Props) => {
  const [width, setWidth] = useState<keyof typeof WIDTHS>('desktop');
  return (
    <Paper withBorder p="md" component="section" aria-label="Preview">
      <Stack gap="sm">
        <PersonPicker
          projectId={projectId}
          label="As it looks for"
          description="Nobody chosen: for an invented person"
          onPick={onPick}
          clearable
        />
        <Group justify="space-between">
          <SegmentedControl
            size="xs"
            aria-label="Width"
            data={[
              { value: 'desktop', label: 'Desktop' },
              { value: 'phone', label: 'Phone' },
            ]}
            value={width}
            onChange={(next) => setWidth(next as keyof typeof WIDTHS)}
          />
          {isLooking && <Loader size="xs" role="progressbar" aria-label="Rendering" />}
        </Group>
        {isWrong && preview && (
          <Text size="sm" c="dimmed">
            As it was before what is wrong now.
          </Text>
        )}
        {preview && (
          <>
            <Inbox {...preview} />
            <Tabs defaultValue="html">
              <Tabs.List mb="sm">
                <Tabs.Tab value="html">HTML</Tabs.Tab>
                <Tabs.Tab value="text">Text</Tabs.Tab>
              </Tabs.List>
              <Tabs.Panel value="html">
                <MailFrame html={preview.html} width={WIDTHS[width]} title="The mail" />
              </Tabs.Panel>
              <Tabs.Panel value="text">
                <Text component="pre" size="sm" className="snippet" m={0}>
                  {preview.text}
                </Text>
              </Tabs.Panel>
            </Tabs>
            <Warnings warnings={preview.warnings} />
          </>
        )}
      </Stack>
    </Paper>
  );
};
