import { ActionIcon, Code, CopyButton, Group, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import type { ReactNode } from 'react';

/** Puts a text into the clipboard; `what` is what a screen reader calls it. */
export const Copy = ({ value, what }: { value: string; what: string }) => (
  <CopyButton value={value}>
    {({ copied, copy }) => (
      <Tooltip label={copied ? 'Copied' : 'Copy'}>
        <ActionIcon variant="subtle" onClick={copy} aria-label={`Copy ${what}`}>
          {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
        </ActionIcon>
      </Tooltip>
    )}
  </CopyButton>
);

/** A text with a button that copies it. `children` is what the page shows instead of the value. */
export const Copyable = ({
  value,
  what,
  children = value,
}: {
  value: string;
  what: string;
  children?: ReactNode;
}) => (
  <Group wrap="nowrap" gap="xs" align="flex-start">
    <Code block className="snippet" flex={1}>
      {children}
    </Code>
    <Copy value={value} what={what} />
  </Group>
);
