// The operations of schedules. Their registration, their methods and their types derive from the list at the end.
import { z } from 'zod'
import { durationSchema } from '../../core/duration-schema.ts'
import { ErrandError } from '../../core/errors.ts'
import { once } from '../../core/once.ts'
import { catchUps, overlaps, type ScheduleRecord, tickOutcomes } from '../../entities/schedule.ts'
import { taskStatuses } from '../../entities/task.ts'
import { timeSchema } from '../../entities/task-fields.ts'
import type { Op, Reads, Step } from '../../ledger/ledger.ts'
import type { AbilityHost } from '../../operations/ability-host.ts'
import { defineOperation } from '../../operations/define-operation.ts'
import type { TaskDraft } from '../../operations/drafts/draft.ts'
import { refuseTasks } from '../../operations/own-tasks.ts'
import { onBehalfOf } from '../../operations/steps/step-context.ts'
import { creationIn, specOf, templateSchema } from '../../operations/task/create.ts'
import { draftsFor } from '../../operations/task/create-tasks.ts'
import {
  loadSchedule,
  makeTicks,
  pauseSchedule,
  putSchedule,
  type ScheduleRequest,
  triggerSchedule,
} from '../schedule-steps.ts'
import { tickAfter, ticksBetween } from '../schedule-ticks.ts'

/** Times that are shown in advance. */
const shownTicks = 3
const maxBackfill = 1_000
/** Ticks that one step of a backfill makes. */
const ticksAtOnce = 50

const nameSchema = once(() =>
  z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'expected up to 100 letters, digits, ".", "_" and "-"')
    .describe('Name of the schedule.'),
)
const named = () => z.strictObject({ name: nameSchema() })

const viewSchema = once(() =>
  z.object({
    name: z.string(),
    cron: z.string().nullable(),
    everyMs: z.number().nullable(),
    timezone: z.string(),
    overlap: z.enum(overlaps),
    catchUp: z.enum(catchUps),
    jitterMs: z.number(),
    paused: z.boolean(),
    /** The root of what each tick creates. */
    task: z.object({ name: z.string(), executor: z.string().nullable(), goal: z.string().nullable() }),
    /** The next planned times, without jitter; none while it is paused. */
    next: z.array(z.number()),
    /** What the latest tick led to. */
    last: z
      .object({
        tick: z.number(),
        at: z.number(),
        outcome: z.enum(tickOutcomes),
        error: z.object({ code: z.string(), message: z.string() }).optional(),
      })
      .nullable(),
    /** The latest task that is still in the ledger. */
    latest: z.object({ id: z.string(), status: z.enum(taskStatuses) }).nullable(),
    createdAt: z.number(),
    updatedAt: z.number(),
  }),
)

function* viewOf(tx: Reads, schedule: ScheduleRecord): Op<z.output<ReturnType<typeof viewSchema>>> {
  const { drafts, nextTick, nextAt: _due, queuedTick: _queued, taskId, last, ...shown } = schedule
  const { name, executor, goal } = drafts[0] as TaskDraft
  const latest = taskId === null ? undefined : yield* tx.task.get(taskId)
  const next: number[] = []
  for (let tick = schedule.paused ? null : nextTick; tick !== null && next.length < shownTicks; ) {
    next.push(tick)
    tick = tickAfter(schedule, tick)
  }
  return {
    ...shown,
    task: { name, executor, goal },
    next,
    last: last && { ...last, ...(last.error && { error: { code: last.error.code, message: last.error.message } }) },
    latest: latest === undefined ? null : { id: latest.id, status: latest.status },
  }
}

async function viewAfter(host: AbilityHost, step: Step<ScheduleRecord>) {
  const schedule = await host.step(step)
  return { schedule: await host.read((tx) => viewOf(tx, schedule)) }
}

async function requestOf(host: AbilityHost): Promise<ScheduleRequest> {
  const { drafter, nextId } = host
  return { ...(await host.stepContext()), treeLimits: drafter.treeLimits, nextId }
}

const timesFault = 'expected either `cron` ("0 9 * * 1-5") or `every` ("2h"), and `timezone` only with `cron`'

/** A schedule goes on when the credentials of its client have ended, so it takes those of an administrator. */
const schedulesPut = defineOperation({
  id: 'schedules:put',
  access: 'admin',
  description: 'Adds a schedule that creates a task at certain times, or updates the one with this name.',
  routes: [
    { endpoint: 'POST /schedules', tag: 'Schedules', operationId: 'putSchedule', summary: 'Add or update a schedule' },
  ],
  input: () =>
    z
      .strictObject({
        name: nameSchema(),
        cron: z.string().trim().min(1).max(200).optional().describe('When, as a cron expression: "0 9 * * 1-5".'),
        every: durationSchema({ min: 1_000 }).optional().describe('The time between two tasks: "2h".'),
        timezone: z.string().min(1).max(100).optional().describe('Of the cron expression. Default UTC.'),
        overlap: z
          .enum(overlaps)
          .default('skip')
          .describe('What happens while the task before is open. `queue`: at most one waits. Default `skip`.'),
        catchUp: z
          .enum(catchUps)
          .default('one')
          .describe('What happens when times have passed while no engine worked. Default `one` task for all of them.'),
        jitterMs: durationSchema().default(0).describe('Each task is made up to this much later. Default 0.'),
        task: templateSchema().describe('What is created, as by `task:create`.'),
      })
      .refine(
        ({ cron, every, timezone }) =>
          (cron === undefined) !== (every === undefined) && (every === undefined || timezone === undefined),
        { path: ['cron'], message: timesFault },
      ),
  output: () => z.object({ schedule: viewSchema() }),
  models: false,
  creationIn: (given) => creationIn((given as { task?: unknown } | null)?.task),
  async handle({ task, cron, every, timezone, ...options }, { caller }, host) {
    refuseTasks(caller, 'schedules:put')
    const [drafts] = await draftsFor(host, caller, [await specOf(task, caller, host)], 'schedules:put')
    const times = { cron: cron ?? null, everyMs: every ?? null, timezone: timezone ?? 'UTC' }
    const put = { ...options, ...times, drafts: drafts as TaskDraft[] }
    return viewAfter(host, putSchedule(put, await requestOf(host)))
  },
})

const schedulesList = defineOperation({
  id: 'schedules:list',
  access: 'read',
  description: 'Lists the schedules by name, each with its next times and what its latest tick led to.',
  routes: [
    { endpoint: 'GET /schedules', tag: 'Schedules', operationId: 'listSchedules', summary: 'List the schedules' },
  ],
  input: () =>
    z.strictObject({
      limit: z.int().min(1).max(500).default(100),
      after: z.string().max(100).default('').describe('The `next` of the page before.'),
    }),
  output: () => z.object({ schedules: z.array(viewSchema()), next: z.string().nullable() }),
  models: false,
  handle: ({ limit, after }, { caller }, host) => {
    refuseTasks(caller, 'schedules:list')
    return host.read(function* (tx) {
      const page = yield* tx.schedule.list(after, limit)
      const schedules = []
      for (const schedule of page) schedules.push(yield* viewOf(tx, schedule))
      return { schedules, next: page.length < limit ? null : (page.at(-1) as ScheduleRecord).name }
    })
  },
})

const schedulesPause = defineOperation({
  id: 'schedules:pause',
  access: 'control',
  description: 'Pauses a schedule: it makes no tasks until it is resumed, and none afterwards for the time between.',
  routes: [
    {
      endpoint: 'POST /schedules/{name}/pause',
      tag: 'Schedules',
      operationId: 'pauseSchedule',
      summary: 'Pause a schedule',
    },
  ],
  input: named,
  output: () => z.object({ schedule: viewSchema() }),
  models: false,
  async handle({ name }, { caller }, host) {
    refuseTasks(caller, 'schedules:pause')
    return viewAfter(host, pauseSchedule(name, true, await host.stepContext()))
  },
})

const schedulesResume = defineOperation({
  id: 'schedules:resume',
  access: 'control',
  description: 'Resumes a paused schedule, with its next time from now on.',
  routes: [
    {
      endpoint: 'POST /schedules/{name}/resume',
      tag: 'Schedules',
      operationId: 'resumeSchedule',
      summary: 'Resume a schedule',
    },
  ],
  input: named,
  output: () => z.object({ schedule: viewSchema() }),
  models: false,
  async handle({ name }, { caller }, host) {
    refuseTasks(caller, 'schedules:resume')
    return viewAfter(host, pauseSchedule(name, false, await host.stepContext()))
  },
})

const schedulesTrigger = defineOperation({
  id: 'schedules:trigger',
  access: 'control',
  description: 'Makes a task of a schedule now, by its rule for overlaps, also while it is paused.',
  routes: [
    {
      endpoint: 'POST /schedules/{name}/trigger',
      tag: 'Schedules',
      operationId: 'triggerSchedule',
      summary: 'Make a task of a schedule now',
    },
  ],
  input: named,
  output: () =>
    z.object({
      outcome: z.enum(tickOutcomes),
      /** The task; the open one when the tick was queued or skipped. */
      taskId: z.string(),
    }),
  models: false,
  async handle({ name }, { caller }, host) {
    refuseTasks(caller, 'schedules:trigger')
    const { last, taskId } = await host.step(triggerSchedule(name, await requestOf(onBehalfOf(host, caller))))
    return { outcome: (last as NonNullable<typeof last>).outcome, taskId: taskId as string }
  },
})

const schedulesBackfill = defineOperation({
  id: 'schedules:backfill',
  access: 'control',
  description: 'Makes the tasks of past times that have none, at most 1,000 in a call, whatever else is open.',
  routes: [
    {
      endpoint: 'POST /schedules/{name}/backfill',
      tag: 'Schedules',
      operationId: 'backfillSchedule',
      summary: 'Make the tasks of past times',
    },
  ],
  input: () =>
    z.strictObject({
      name: nameSchema(),
      from: timeSchema.describe('The first time, in epoch milliseconds.'),
      to: timeSchema.describe('The last time, in epoch milliseconds, not in the future.'),
    }),
  output: () => z.object({ ticks: z.int(), created: z.int() }),
  models: false,
  async handle({ name, from, to }, { caller }, host) {
    refuseTasks(caller, 'schedules:backfill')
    const own = onBehalfOf(host, caller)
    const schedule = await host.read((tx) => loadSchedule(tx, name))
    const { at } = await host.stepContext()
    if (to > at)
      throw new ErrandError('INVALID_INPUT', '`to` is in the future. Give a time up to now.', { to, now: at })
    const ticks = ticksBetween(schedule, schedule.nextTick, from, to, maxBackfill + 1)
    if (ticks.length > maxBackfill) throw tooMany(ticks[maxBackfill - 1] as number)
    let created = 0
    for (let done = 0; done < ticks.length; done += ticksAtOnce) {
      created += await host.step(makeTicks(name, ticks.slice(done, done + ticksAtOnce), await requestOf(own)))
    }
    return { ticks: ticks.length, created }
  },
})

function tooMany(last: number): ErrandError {
  return new ErrandError(
    'LIMIT_EXCEEDED',
    `There are more than ${maxBackfill} times between \`from\` and \`to\`. Backfill in parts: the first one up to ${new Date(last).toISOString()}.`,
    { limit: 'backfill', value: maxBackfill, to: last },
  )
}

const schedulesRemove = defineOperation({
  id: 'schedules:remove',
  access: 'control',
  description: 'Removes a schedule. Its tasks stay.',
  routes: [
    {
      endpoint: 'DELETE /schedules/{name}',
      tag: 'Schedules',
      operationId: 'removeSchedule',
      summary: 'Remove a schedule',
    },
  ],
  input: named,
  output: () => z.object({ removed: z.boolean() }),
  models: false,
  async handle({ name }, { caller }, host) {
    refuseTasks(caller, 'schedules:remove')
    return { removed: await host.step({ name: 'remove schedule', decide: (tx) => tx.schedule.remove(name) }) }
  },
})

export const scheduleOperations = [
  schedulesBackfill,
  schedulesList,
  schedulesPause,
  schedulesPut,
  schedulesRemove,
  schedulesResume,
  schedulesTrigger,
] as const
