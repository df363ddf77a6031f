import { Anchor, Button, Group, SegmentedControl, Stack, Table, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Empty } from '../parts/empty.tsx';
import { ForRole } from '../parts/for_role.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { Paged } from '../parts/paged.tsx';
import { When } from '../parts/when.tsx';
import { templates } from '../template_queries.ts';
import type { ListedTemplate } from '../template_queries.ts';

const route = getRouteApi('/signed-in/p/$projectId/templates');

const New = ({ projectId }: { projectId: string }) => (
  <Button
    renderRoot={(props) => (
      <Link {...props} to="/p/$projectId/templates/new" params={{ projectId }} />
    )}
  >
    New template
  </Button>
);

const Row = ({ template, projectId }: { template: ListedTemplate; projectId: string }) => (
  <Table.Tr>
    <Table.Td>
      <Anchor
        fw={600}
        className="breaks"
        renderRoot={(props) => (
          <Link
            {...props}
            to="/p/$projectId/templates/$templateId"
            params={{ projectId, templateId: template.id }}
          />
        )}
      >
        {template.name}
      </Anchor>
      <Group hiddenFrom="sm" gap="xs">
        <Text size="sm" c="dimmed">
          Version {template.version}
        </Text>
        <When at={template.updated_at} />
      </Group>
    </Table.Td>
    <Table.Td visibleFrom="sm" className="number">
      {template.version}
    </Table.Td>
    <Table.Td visibleFrom="sm">
      <When at={template.updated_at} />
    </Table.Td>
  </Table.Tr>
);

export const TemplatesPage = () => {
  const { projectId } = route.useParams();
  const [shown, setShown] = useState('used');
  const isArchived = shown === 'archived';
  const list = useInfiniteQuery(templates(projectId, isArchived));
  const empty = isArchived ? (
    <Empty title="Nothing is archived">What you put away is found here.</Empty>
  ) : (
    <Empty title="No template yet">
      <Stack align="flex-start">
        A template is what a mail says. Automations send it, with what is known of each person.
        <ForRole projectId={projectId} role="editor">
          <New projectId={projectId} />
        </ForRole>
      </Stack>
    </Empty>
  );
  return (
    <Stack>
      <Group justify="space-between" align="flex-end">
        <PageTitle title="Templates" note="What your mails say." />
        <Group>
          <SegmentedControl
            aria-label="Which templates"
            data={[
              { value: 'used', label: 'In use' },
              { value: 'archived', label: 'Archived' },
            ]}
            value={shown}
            onChange={setShown}
          />
          <ForRole projectId={projectId} role="editor" to="to write a template">
            <New projectId={projectId} />
          </ForRole>
        </Group>
      </Group>
      <Paged list={list} empty={empty}>
        {(items) => (
          <Table verticalSpacing="sm" withTableBorder highlightOnHover>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Template</Table.Th>
                <Table.Th visibleFrom="sm">Version</Table.Th>
                <Table.Th visibleFrom="sm">Changed</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {items.map((one) => (
                <Row key={one.id} template={one} projectId={projectId} />
              ))}
            </Table.Tbody>
          </Table>
        )}
      </Paged>
    </Stack>
  );
};
