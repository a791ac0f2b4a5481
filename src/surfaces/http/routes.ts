// The routes, one line each: which ability answers, and how it is asked. Handlers, the document and the page of the documentation are
// all made from this table; what is not in it is reached at /abilities/{id}.

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

export interface Route {
  readonly method: Method
  /** Parts in braces are fields of the ability's input. GET and DELETE take the others from the query, POST and PATCH from the body. */
  readonly path: string
  readonly ability: string
  /** What generators of clients call it. */
  readonly operationId: string
  readonly tag: string
  readonly summary: string
  /** Answered as server-sent events. */
  readonly streams?: true
  /** Makes something: 201, with its place; `Idempotency-Key` is kept for ever. */
  readonly creates?: true
}

type Extra = Pick<Route, 'streams' | 'creates'>

/** `place` is method and path. */
function route(
  place: string,
  ability: string,
  operationId: string,
  summary: string,
  extra: Extra = {},
): Omit<Route, 'tag'> {
  const [method, path] = place.split(' ') as [Method, string]
  return { method, path, ability, operationId, summary, ...extra }
}

function group(tag: string, members: Array<Omit<Route, 'tag'>>): Route[] {
  return members.map((member) => ({ ...member, tag }))
}

const creates = { creates: true } as const
const streams = { streams: true } as const

export const routes: readonly Route[] = [
  ...group('Tasks', [
    route('POST /tasks', 'task:create', 'createTask', 'Create a task', creates),
    route('GET /tasks', 'task:list', 'listTasks', 'List tasks'),
    route('GET /tasks/{taskId}', 'task:get', 'getTask', 'Show a task'),
    route('PATCH /tasks/{taskId}', 'task:update', 'updateTask', 'Change a task'),
    route('DELETE /tasks/{taskId}', 'task:delete', 'deleteTask', 'Delete a task'),
    route('GET /tasks/{taskId}/why', 'task:why', 'explainTask', 'Why a task stands where it stands'),
    route('GET /tasks/{taskId}/runs', 'task:runs', 'listRuns', 'List the runs of a task'),
    route('GET /tasks/{taskId}/calls', 'task:calls', 'listCalls', 'List the calls of a task'),
    route('GET /tasks/{taskId}/messages', 'task:messages', 'listMessages', 'List the messages of a task'),
    route('GET /tasks/{taskId}/events', 'event:list', 'listTaskEvents', 'List the events of a task'),
    route('GET /tasks/{taskId}/stream', 'task:stream', 'streamTask', 'Follow all that happens in a task', streams),
    route('GET /stream/{taskId}', 'task:stream', 'stream', 'Follow all that happens in a task', streams),
  ]),
  ...group('Control', [
    route('POST /tasks/{taskId}/start', 'task:start', 'startTask', 'Start a task'),
    route('POST /tasks/{taskId}/pause', 'task:pause', 'pauseTask', 'Pause a task'),
    route('POST /tasks/{taskId}/resume', 'task:resume', 'resumeTask', 'Resume a task'),
    route('POST /tasks/{taskId}/cancel', 'task:cancel', 'cancelTask', 'Cancel a task'),
    route('POST /tasks/{taskId}/retry', 'task:retry', 'retryTask', 'Give a failed task a new attempt'),
    route('POST /tasks/{taskId}/answer', 'task:answer', 'answerTask', 'Answer what a task asks'),
    route('POST /tasks/{taskId}/fail', 'task:fail', 'failTask', 'Fail a task that is worked on from outside'),
    route('POST /tasks/{taskId}/claim', 'task:claim', 'claimTask', 'Claim a task'),
    route('POST /tasks/{taskId}/heartbeat', 'task:heartbeat', 'heartbeatTask', 'Keep a claim alive'),
    route('POST /tasks/{taskId}/release', 'task:release', 'releaseTask', 'Give a claimed task back'),
    route('POST /tasks/{taskId}/block', 'task:block', 'blockTask', 'Let a task wait for others'),
    route('POST /tasks/{taskId}/unblock', 'task:unblock', 'unblockTask', 'Let a task wait for others no longer'),
    route('POST /tasks/{taskId}/messages', 'task:send', 'sendMessage', 'Send a task a message'),
    route('POST /send', 'task:send', 'send', 'Send a task a message, its id in the body'),
  ]),
  ...group('Teams', [
    route('POST /tasks/{taskId}/join', 'agent:join', 'joinTask', 'Let an agent join a task'),
    route(
      'POST /tasks/{taskId}/agents/{agentId}/complete',
      'agent:complete',
      'completeAgent',
      'End the work of an agent',
    ),
    route('POST /tasks/{taskId}/objectives', 'objective:add', 'addObjectives', 'Give a task more objectives'),
    route(
      'PATCH /tasks/{taskId}/objectives/{objectiveId}',
      'objective:update',
      'updateObjective',
      'Say how an objective stands',
    ),
    route('POST /tasks/{taskId}/complete', 'task:complete', 'completeTask', 'Complete a task'),
    route(
      'POST /tasks/{taskId}/consolidate',
      'mem:consolidate',
      'consolidate',
      'Make lasting facts of what was observed',
    ),
    route(
      'GET /tasks/{taskId}/context',
      'task:context',
      'getContext',
      'What there is to know before working on a task',
    ),
    route('GET /agents/{agentId}/timeline', 'agent:timeline', 'getTimeline', 'What an agent has worked on'),
  ]),
  ...group('Plans', [route('POST /plans', 'plan:run', 'runPlan', 'Run a plan, or go on with its round')]),
  ...group('Events', [
    route('GET /events', 'event:feed', 'followEvents', 'Follow all events', streams),
    route('GET /events/list', 'event:list', 'listEvents', 'List events'),
  ]),
  ...group('Engine', [
    route('GET /status', 'engine:status', 'getStatus', 'How the engine stands'),
    route('GET /machines', 'engine:machines', 'getMachines', 'The state machines'),
  ]),
]

/** Where a request has the fields of its input that are not in the path: in its body, or in its query. */
export function takesBody({ method }: Pick<Route, 'method'>): boolean {
  return method === 'POST' || method === 'PATCH'
}

/** The names in braces, in their order. */
export function pathNames(path: string): string[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name as string)
}
