// The event: one row of the audit trail, which is also the feed. Only stored events are published.
import { z } from 'zod'

/**
 * The types of durable events, each with its meaning and the fields of its `data` besides those that every event has. `npm run reference`
 * makes docs/reference/events.md of them.
 */
export const eventKinds = {
  'task.created': {
    meaning: 'A task was created.',
    details: '`parentId`, `goal`, `executor`, `forkedFrom`, each if the task has it',
  },
  'task.started': {
    meaning: 'The task is WORKING: a run begins, or a task without an executor was started or claimed.',
    details: '`from`, `attempt`; `run` with an executor, `owner` after a claim',
  },
  'task.paused': {
    meaning: 'The task was paused, or its resumption was withdrawn.',
    details: "`from`, `run`; `withdrawn: 'resume'`",
  },
  'task.resumed': {
    meaning: 'A paused task may run again. It starts when it gets a slot.',
    details: '',
  },
  'task.input_required': {
    meaning: 'The task waits for the answer of a person.',
    details: '`from`, `run`, `waits`',
  },
  'task.answered': {
    meaning: 'A question was answered.',
    details: '`questionId`, `answer`, `answeredBy`',
  },
  'task.waiting': {
    meaning: 'The task is suspended: it waits for tasks, a signal or a time, for its children, or for a free engine.',
    details:
      '`from`, `run`, `waits`; `reason`: `released` or `interrupted`; `attempt` and `generation` of a new generation',
  },
  'task.unblocked': {
    meaning: 'What the task waited for is over.',
    details:
      '`by`: the dependency that completed; `removed`: dependencies that were removed; `callId`: the wait that is over',
  },
  'task.completed': {
    meaning: 'The task completed. Final.',
    details:
      '`from`, `run`, `attempt`; `inFlight`: names of calls that were not awaited; `by`: the owner that completed it, or `verb`',
  },
  'task.failed': {
    meaning: 'An attempt failed.',
    details: '`from`, `run`, `attempt`, `error`, `willRetry`: false if the task failed for good',
  },
  'task.retried': {
    meaning: 'A failed task gets its next attempt.',
    details: "`from`, `attempt`; `by: 'verb'`, `divergence` and `repeat` if a caller asked for it",
  },
  'task.canceled': {
    meaning: 'The task was canceled. Final.',
    details: '`from`, `run`, `reason`',
  },
  'task.claimed': {
    meaning: 'An owner claimed the task.',
    details: '`owner`, `role`, `source`: the surface, `fence`, `leaseUntil`',
  },
  'task.released': {
    meaning: 'A claim ended without an outcome.',
    details: '`owner`, `fence`, `reason`; `lapsed` if its lease is over',
  },
  'task.updated': {
    meaning: 'Fields of the task changed.',
    details: '`changed`: their names',
  },
  'task.promoted': {
    meaning: 'The parent was deleted, and the task became a root.',
    details: '`from`: the former parent',
  },
  'task.deleted': {
    meaning: 'The task was deleted.',
    details: '`settled`: whether it had ended; `run`',
  },
  'task.diverged': {
    meaning:
      'A run made a call that the journal does not contain before it asked for all recorded ones, or ended without asking for them.',
    details:
      '`run`, `entries`: recorded calls that were not requested again; `callId`, `call`: the new call that was made before, `unasked`: their number',
  },
  'task.repaired': {
    meaning: 'The stored image of the machine of the task was not sound, and was made anew from its row.',
    details: '`fault`',
  },
  'timer.fired': {
    meaning: 'The time of a sleep, of a wait or of a delay is over.',
    details: '`callId`, `kind`; none for the delay of a start',
  },
  'run.parked': {
    meaning: 'A run waits in memory and holds no slot.',
    details: '`run`, `waits`',
  },
  'run.continued': {
    meaning: 'A parked run has a slot again.',
    details: '`run`',
  },
  'run.closed': {
    meaning: 'A run has ended, and its calls have settled.',
    details: '`run`; `lost`: the engine that it was taken over from',
  },
  'call.started': {
    meaning: 'A call of the run began.',
    details: '`callId`, `tool`: its name, `args`: its params, `run`',
  },
  'call.completed': {
    meaning: 'A call returned.',
    details: '`callId`, `tool`, `result`, `resultLost`',
  },
  'call.failed': {
    meaning: 'A call threw an error, or was interrupted.',
    details: '`callId`, `tool`, `error`',
  },
  'model.failed': {
    meaning: 'A step of a model failed.',
    details: '`try`, `error`, `againInMs` (null if it is not tried again), `run`',
  },
  'model.prompt_cut': {
    meaning: 'A provider has read less than it was sent.',
    details: '`inputTokens`, `expectedTokens`, `run`',
  },
  'question.asked': {
    meaning: 'A run asks a question. It is published when the run ends.',
    details: '`questionId`, `question`, `for`, `schema`, `default`, `dueAt`, `run`',
  },
  'signal.received': {
    meaning: 'A signal was sent to the task.',
    details: '`signal`: its name, `signalId`: the id that it was sent with, `callId`: the wait that takes it',
  },
  'machine.moved': {
    meaning: 'A machine made a macrostep.',
    details: '`event`: what caused it, `value`: its state, `step`, `run`',
  },
  'machine.emitted': {
    meaning: 'A machine emitted an event.',
    details: '`event`, `run`',
  },
  'message.appended': {
    meaning: 'A message was added to the conversation.',
    details: '`messageId`, `role`, `n`: its position, `run`, `announcement`',
  },
  'output.written': {
    meaning: 'Output of the task was stored.',
    details: '`text`, `stream`, `run`',
  },
  'progress.reported': {
    meaning: 'The run reported progress.',
    details: '`fraction`: 0 to 1, `note`, `run`',
  },
  'agent.joined': {
    meaning: 'An agent joined the team of the task.',
    details: '`agentId`, `role`, `branch`, `stint`, `workerId`',
  },
  'agent.completed': {
    meaning: 'An agent completed its work in the team.',
    details: '`agentId`, `role`, `branch`, `stint`, `merged`, `rejected`, `conflicts`, `mergeId`',
  },
  'objective.updated': {
    meaning: 'An objective changed its state.',
    details: '`objectiveId`, `from`, `to`, `agentId`, `notes`',
  },
  'team.closed': {
    meaning: 'The task of a team completed, and its facts were judged.',
    details: '`branch`, `checkpointId`, `mergeId`, `durable`, `ephemeral`, `merged`, `rejected`, `conflicts`',
  },
} as const satisfies Record<string, { readonly meaning: string; readonly details: string }>
export type EventType = keyof typeof eventKinds

/** In the past tense. `subscribe` takes one of them or `*`. */
export const eventTypes = Object.keys(eventKinds) as readonly EventType[]

export const eventSchema = z.object({
  seq: z.int(),
  type: z.enum(eventTypes),
  taskId: z.string(),
  at: z.number(),
  instanceId: z.string(),
  data: z.record(z.string(), z.unknown()),
})

/** The requester of a change from outside. */
export interface Requester {
  /** `http`, `mcp`, `cli`, `model`, … */
  surface: string
  /** The name of the credentials, or the owner of the requesting task. */
  owner?: string
  /** The task whose run or model requested the change. */
  taskId?: string
}

/**
 * One event. `data` always holds the `name` and `status` of the task after it, and `requestedBy` (a `Requester`) unless the program of the
 * engine itself requested the change; events that follow from it in the same transaction have the same. The events of a cascade have
 * `cascadedFrom`, the id of the task that caused it.
 */
export interface TaskEvent {
  /** The global order: the position in every stream and the cursor of the feed. */
  seq: number
  type: EventType
  taskId: string
  /** Epoch milliseconds. */
  at: number
  /** The engine instance that wrote it. */
  instanceId: string
  data: Record<string, unknown>
}
