import { Stack } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { api } from '../api.ts';
import { useChange } from '../changes.ts';
import { Back } from '../parts/back.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { NEW_TEMPLATE } from '../parts/template/draft.ts';
import { TemplateEditor } from '../parts/template/template_editor.tsx';
import type { Draft } from '../template_queries.ts';

const route = getRouteApi('/signed-in/p/$projectId/templates/new');

export const NewTemplatePage = () => {
  const { projectId } = route.useParams();
  const navigate = useNavigate();
  const make = useChange(projectId, ['templates'], async (template: Draft) => {
    const { id: templateId } = await api.templates.create.mutate({ projectId, template });
    await navigate({
      to: '/p/$projectId/templates/$templateId',
      params: { projectId, templateId },
    });
    return true;
  });
  return (
    <Stack>
      <Back to="/p/$projectId/templates" projectId={projectId} label="Templates" />
      <PageTitle title="New template" />
      <TemplateEditor
        projectId={projectId}
        initial={NEW_TEMPLATE}
        label="Save"
        keep={(draft) => make.mutateAsync(draft).catch(() => false)}
        isKeeping={make.isPending}
        error={make.error}
      />
    </Stack>
  );
};
