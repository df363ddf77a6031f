import { initTRPC, TRPCError } from '@trpc/server';
import type { TRPC_ERROR_CODE_KEY } from '@trpc/server/rpc';
import { z } from 'zod';
import { isDatabaseDown } from './db.ts';
import type { Deps } from './deps.ts';
import { toIssues } from './parse.ts';
import { Refusal, refusals } from './refusal.ts';
import type { RefusalName } from './refusal.ts';

/** Who works in the Console. */
export type Person = { person_id: string; email: string; is_admin: boolean };

/** What a procedure is given: the service's parts, and the one request that it came with. */
export type ProcedureContext = {
  deps: Deps;
  requestId: string;
  /** The address that the request came from. */
  address: string;
  /** Whether the request was made by a page of ours, or by no page at all. */
  isFromOurPages: boolean;
  /** The token of the session cookie, as the client sent it. */
  sessionToken: string | null;
  /** Answers with a cookie that holds this token, or with one that ends it. */
  keepSession: (token: string | null) => void;
  /** The person behind the session cookie. The database is asked once per request at most. */
  findPerson: () => Promise<Person | null>;
  /** Whether a person may work in a project that exists. */
  maySee: (person: Person, projectId: string) => Promise<boolean>;
};

/** What an error is called where it did not come from a procedure of ours, by tRPC's own code. */
const namesOfCodes: Partial<Record<TRPC_ERROR_CODE_KEY, RefusalName>> = {
  PARSE_ERROR: 'invalid_json',
  BAD_REQUEST: 'invalid_request',
  NOT_FOUND: 'not_found',
  METHOD_NOT_SUPPORTED: 'method_not_allowed',
  PAYLOAD_TOO_LARGE: 'body_too_large',
  UNSUPPORTED_MEDIA_TYPE: 'unsupported_media_type',
};

const codesOfStatuses: Record<number, TRPC_ERROR_CODE_KEY> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_SUPPORTED',
  408: 'TIMEOUT',
  409: 'CONFLICT',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  422: 'UNPROCESSABLE_CONTENT',
  429: 'TOO_MANY_REQUESTS',
  503: 'SERVICE_UNAVAILABLE',
};

/** What an error is to the client: a name of the catalogue, whatever was thrown. A bug says nothing of itself. */
export const toRefusal = ({ code, cause }: TRPCError): Refusal => {
  if (cause instanceof Refusal) return cause;
  if (cause instanceof z.ZodError)
    return new Refusal('invalid_request', { issues: toIssues(cause), cause });
  if (isDatabaseDown(cause)) return new Refusal('unavailable', { cause });
  return new Refusal(namesOfCodes[code] ?? 'internal_error', { cause });
};

const t = initTRPC.context<ProcedureContext>().create({
  isDev: false,
  errorFormatter: ({ shape, error, ctx }) => {
    const { reason, extras } = toRefusal(error);
    return {
      code: shape.code,
      message: reason,
      data: {
        code: shape.data.code,
        httpStatus: shape.data.httpStatus,
        detail: extras.detail ?? refusals[reason].detail,
        request_id: ctx?.requestId ?? null,
        issues: extras.issues ?? [],
        /** Of a refusal with more to say: the class of a failure, its cause and its fix. */
        members: extras.members ?? {},
      },
    };
  },
});

/** A refusal leaves with the code of its status and its name as message. */
const answerRefusals = t.middleware(async ({ next }) => {
  const result = await next();
  if (result.ok) return result;
  const refusal = toRefusal(result.error);
  const code = codesOfStatuses[refusals[refusal.reason].status] ?? 'INTERNAL_SERVER_ERROR';
  throw new TRPCError({ code, message: refusal.reason, cause: refusal });
});

/** A page of somebody else can make a browser send our cookie, but not claim our origin. */
const refuseForeignChanges = t.middleware(({ ctx, type, next }) => {
  if (type === 'mutation' && !ctx.isFromOurPages) throw new Refusal('foreign_origin');
  return next();
});

export const { router } = t;

/** Anybody may call it. */
export const openProcedure = t.procedure.use(answerRefusals).use(refuseForeignChanges);

/** For people who are signed in. `ctx.person` is the one who asks. */
export const personProcedure = openProcedure.use(async ({ ctx, next }) => {
  const person = await ctx.findPerson();
  if (!person) throw new Refusal('not_signed_in');
  return next({ ctx: { person } });
});

/** For people who may work in the project that `projectId` names; any other project does not exist for them. */
export const projectProcedure = personProcedure
  .input(z.object({ projectId: z.uuid() }))
  .use(async ({ ctx, input, next }) => {
    if (!(await ctx.maySee(ctx.person, input.projectId))) {
      throw new Refusal('not_found', { detail: 'There is no project here that you may see.' });
    }
    return next();
  });
