// The table of routes: method, path and ability, one line each. Handlers, the OpenAPI document and the documentation page derive from
// it. Abilities without a route are reached at /abilities/{id}.

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

export interface Route {
  readonly method: Method
  /**
   * Names in braces are fields of the ability's input. GET and DELETE read the other fields from the query, POST and PATCH from the body.
   */
  readonly path: string
  readonly ability: string
  /** The name in generated clients. */
  readonly operationId: string
  readonly tag: string
  readonly summary: string
  /** Answered as server-sent events. */
  readonly streams?: true
  /** Creates a resource: 201 with its `Location`. `Idempotency-Key` is permanent. */
  readonly creates?: true
}

type Extra = Pick<Route, 'streams' | 'creates'>

/** @param endpoint method and path. */
function route(
  endpoint: string,
  ability: string,
  operationId: string,
  summary: string,
  extra: Extra = {},
): Omit<Route, 'tag'> {
  const [method, path] = endpoint.split(' ') as [Method, string]
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
    route('GET /tasks/{taskId}', 'task:get', 'getTask', 'Get a task'),
    route('PATCH /tasks/{taskId}', 'task:update', 'updateTask', 'Update a task'),
    route('DELETE /tasks/{taskId}', 'task:delete', 'deleteTask', 'Delete a task'),
    route('GET /tasks/{taskId}/why', 'task:why', 'explainTask', 'Explain why a task does not run'),
    route('GET /tasks/{taskId}/runs', 'task:runs', 'listRuns', 'List the runs of a task'),
    route('GET /tasks/{taskId}/calls', 'task:calls', 'listCalls', 'List the calls of a task'),
    route('GET /tasks/{taskId}/messages', 'task:messages', 'listMessages', 'List the messages of a task'),
    route('GET /tasks/{taskId}/events', 'event:list', 'listTaskEvents', 'List the events of a task'),
    route('GET /tasks/{taskId}/stream', 'task:stream', 'streamTask', 'Stream a task', streams),
    route('GET /stream/{taskId}', 'task:stream', 'stream', 'Stream a task', streams),
  ]),
  ...group('Control', [
    route('POST /tasks/{taskId}/start', 'task:start', 'startTask', 'Start a task'),
    route('POST /tasks/{taskId}/pause', 'task:pause', 'pauseTask', 'Pause a task'),
    route('POST /tasks/{taskId}/resume', 'task:resume', 'resumeTask', 'Resume a task'),
    route('POST /tasks/{taskId}/cancel', 'task:cancel', 'cancelTask', 'Cancel a task'),
    route('POST /tasks/{taskId}/retry', 'task:retry', 'retryTask', 'Retry a failed task'),
    route('POST /tasks/{taskId}/answer', 'task:answer', 'answerTask', 'Answer a question of a task'),
    route('POST /tasks/{taskId}/fail', 'task:fail', 'failTask', 'Fail a task that is worked on from outside'),
    route('POST /tasks/{taskId}/claim', 'task:claim', 'claimTask', 'Claim a task'),
    route('POST /tasks/{taskId}/heartbeat', 'task:heartbeat', 'heartbeatTask', 'Renew the lease of a claim'),
    route('POST /tasks/{taskId}/release', 'task:release', 'releaseTask', 'Release a claimed task'),
    route('POST /tasks/{taskId}/block', 'task:block', 'blockTask', 'Add blockers to a task'),
    route('POST /tasks/{taskId}/unblock', 'task:unblock', 'unblockTask', 'Remove blockers from a task'),
    route('POST /tasks/{taskId}/messages', 'task:send', 'sendMessage', 'Send a message to a task'),
    route('POST /send', 'task:send', 'send', 'Send a message to the task named in the body'),
  ]),
  ...group('Teams', [
    route('POST /tasks/{taskId}/join', 'agent:join', 'joinTask', 'Add an agent to a task'),
    route(
      'POST /tasks/{taskId}/agents/{agentId}/complete',
      'agent:complete',
      'completeAgent',
      'Complete the work of an agent',
    ),
    route('POST /tasks/{taskId}/objectives', 'objective:add', 'addObjectives', 'Add objectives to a task'),
    route(
      'PATCH /tasks/{taskId}/objectives/{objectiveId}',
      'objective:update',
      'updateObjective',
      'Update an objective',
    ),
    route('POST /tasks/{taskId}/complete', 'task:complete', 'completeTask', 'Complete a task'),
    route('POST /tasks/{taskId}/consolidate', 'mem:consolidate', 'consolidate', 'Consolidate the memory of a task'),
    route('GET /tasks/{taskId}/context', 'task:context', 'getContext', 'Get the context of a task'),
    route('GET /agents/{agentId}/timeline', 'agent:timeline', 'getTimeline', 'List the work of an agent'),
  ]),
  ...group('Plans', [route('POST /plans', 'plan:run', 'runPlan', 'Run a plan, or continue its round')]),
  ...group('Events', [
    route('GET /events', 'event:feed', 'followEvents', 'Stream all events', streams),
    route('GET /events/list', 'event:list', 'listEvents', 'List events'),
  ]),
  ...group('Engine', [
    route('GET /status', 'engine:status', 'getStatus', 'Get the state of the engine'),
    route('GET /machines', 'engine:machines', 'getMachines', 'Get the state machines'),
  ]),
]

/** Whether the fields that are not in the path are read from the body rather than the query. */
export function takesBody({ method }: Pick<Route, 'method'>): boolean {
  return method === 'POST' || method === 'PATCH'
}

/** The names in braces, in order. */
export function pathNames(path: string): string[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name as string)
}
