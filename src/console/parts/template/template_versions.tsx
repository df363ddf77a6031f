import { Badge, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { templateVersion, templateVersions } from '../../template_queries.ts';
import { Differences } from '../differences.tsx';
import { Paged } from '../paged.tsx';
import { When } from '../when.tsx';
import { toTyped } from './draft.ts';

type Props = { projectId: string; templateId: string };

const useText = ({ projectId, templateId }: Props, version: number): string | null => {
  const { data } = useQuery({
    ...templateVersion(projectId, templateId, version),
    enabled: version > 0,
  });
  if (version === 0) return '';
  if (!data) return null;
  const { name, subject, preheader, body, text } = toTyped(data);
  const head = [`Name: ${name}`, `Subject: ${subject}`, `Preheader: ${preheader}`];
  return [...head, '', body, ...(text === '' ? [] : ['', 'Text:', text])].join('\n');
};

const Difference = ({ version, ...props }: Props & { version: number }) => {
  const [before, after] = [useText(props, version - 1), useText(props, version)];
  if (before === null || after === null) return null;
  return <Differences before={before} after={after} />;
};

const One = ({
  said,
  ...props
}: Props & { said: { version: number; subject: string; format: string; created_at: string } }) => {
  const [isOpen, setIsOpen] = useState(false);
  const { version, subject, format, created_at } = said;
  return (
    <Paper withBorder p="sm" component="li">
      <Stack gap="sm">
        <Group justify="space-between">
          <Group gap="xs">
            <Text fw={600}>Version {version}</Text>
            <Badge variant="default">{format.toUpperCase()}</Badge>
            <Text size="sm" className="breaks">
              {subject}
            </Text>
            <When at={created_at} />
          </Group>
          <Button
            size="xs"
            variant="default"
            aria-expanded={isOpen}
            onClick={() => setIsOpen(!isOpen)}
          >
            {isOpen ? 'Close' : 'What it changed'}
          </Button>
        </Group>
        {isOpen && <Difference {...props} version={version} />}
      </Stack>
    </Paper>
  );
};

/** Every version of a template, and what each changed. */
export const TemplateVersions = (props: Props) => {
  const list = useInfiniteQuery(templateVersions(props.projectId, props.templateId));
  return (
    <Paged list={list} empty={null}>
      {(items) => (
        <Stack gap="sm" component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
          {items.map((said) => (
            <One key={said.version} {...props} said={said} />
          ))}
        </Stack>
      )}
    </Paged>
  );
};
