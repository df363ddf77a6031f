import { Alert, Button, Stack, Tabs, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useRef } from 'react';
import { api, isNotFound } from '../api.ts';
import { useChange } from '../changes.ts';
import { Back } from '../parts/back.tsx';
import { Empty } from '../parts/empty.tsx';
import { Failed } from '../parts/failed.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { Loading } from '../parts/paged.tsx';
import { Refused } from '../parts/refused.tsx';
import { toTyped } from '../parts/template/draft.ts';
import { TemplateEditor } from '../parts/template/template_editor.tsx';
import { TemplateVersions } from '../parts/template/template_versions.tsx';
import { template } from '../template_queries.ts';
import type { Draft, Template } from '../template_queries.ts';

const route = getRouteApi('/signed-in/p/$projectId/templates/$templateId');

type Props = { projectId: string; known: Template };

const Putting = ({ projectId, known }: Props) => {
  const isArchived = known.archived_at !== null;
  const put = useChange(projectId, ['templates'], () =>
    isArchived
      ? api.templates.restore.mutate({ projectId, templateId: known.id })
      : api.templates.archive.mutate({ projectId, templateId: known.id }),
  );
  return (
    <>
      <Refused error={put.error} />
      <Button variant="default" loading={put.isPending} onClick={() => put.mutate(undefined)}>
        {isArchived ? 'Bring it back' : 'Archive'}
      </Button>
    </>
  );
};

const Known = ({ projectId, known }: Props) => {
  const seen = useRef(known.version);
  const keep = useChange(projectId, ['templates'], async (draft: Draft) => {
    const { version } = await api.templates.save.mutate({
      projectId,
      templateId: known.id,
      version: { ...draft, after_version: seen.current },
    });
    seen.current = version;
    return true;
  });
  return (
    <>
      <PageTitle title={known.name} note={`Version ${known.version}`} />
      {known.archived_at !== null && (
        <Alert color="gray">
          It is archived: nothing new may send it.
          <Putting projectId={projectId} known={known} />
        </Alert>
      )}
      <Text size="sm" c="dimmed" className="breaks">
        {known.used_by.length === 0
          ? 'No active automation sends it.'
          : `Sent by ${known.used_by.join(', ')}: with the version that each names.`}
      </Text>
      <Tabs defaultValue="edit" keepMounted>
        <Tabs.List mb="md">
          <Tabs.Tab value="edit">Edit</Tabs.Tab>
          <Tabs.Tab value="versions">Versions</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="edit">
          <TemplateEditor
            key={known.id}
            projectId={projectId}
            initial={toTyped(known)}
            label="Save as the next version"
            keep={(draft) => keep.mutateAsync(draft).catch(() => false)}
            isKeeping={keep.isPending}
            error={keep.error}
          >
            {known.archived_at === null && <Putting projectId={projectId} known={known} />}
          </TemplateEditor>
        </Tabs.Panel>
        <Tabs.Panel value="versions" keepMounted={false}>
          <TemplateVersions projectId={projectId} templateId={known.id} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
};

export const TemplatePage = () => {
  const { projectId, templateId } = route.useParams();
  const { data, isPending, error } = useQuery(template(projectId, templateId));
  return (
    <Stack>
      <Back to="/p/$projectId/templates" projectId={projectId} label="Templates" />
      {isPending && <Loading />}
      {isNotFound(error) && (
        <Empty isPage title="There is no such template">
          Look in the list.
        </Empty>
      )}
      {error !== null && !isNotFound(error) && !data && <Failed error={error} />}
      {data && <Known key={templateId} projectId={projectId} known={data} />}
    </Stack>
  );
};
