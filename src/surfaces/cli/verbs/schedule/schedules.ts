// `errand schedule ls`, `pause`, `resume`, `trigger`, `backfill` and `rm`.
import { isoTime } from '../../../../core/clock.ts'
import { counted } from '../../../../core/counted.ts'
import { formatDuration } from '../../../../core/duration.ts'
import { ErrandError } from '../../../../core/errors.ts'
import type { Engine } from '../../../../engine/engine-api.ts'
import { timeOf } from '../../../../entities/engine-time.ts'
import { misuse, texts } from '../../../terminal/arguments.ts'
import { cliCaller } from '../../../terminal/caller.ts'
import { printValue } from '../../../terminal/io.ts'
import { timeOption } from '../../../terminal/option-values.ts'
import { printTable } from '../../../terminal/table.ts'
import { withLedger } from '../../open-ledger.ts'
import { defineVerb, type Verb } from '../../verb.ts'

type Schedule = Awaited<ReturnType<Engine['schedules']['list']>>['schedules'][number]

const whenOf = ({ cron, everyMs, timezone }: Schedule): string =>
  cron === null ? `every ${formatDuration(everyMs as number)}` : `${cron} ${timezone}`

const nextOf = ({ paused, next: [first] }: Schedule): string =>
  paused ? 'paused' : first === undefined ? 'never' : isoTime(first)

/** The latest tick: what it led to, and the state of the latest task. */
function lastOf({ last, latest }: Schedule): string {
  if (last === null) return ''
  const state = last.outcome === 'created' && latest !== null ? latest.status : last.outcome
  return `${isoTime(last.tick)} ${state}${last.error === undefined ? '' : `: ${last.error.message}`}`
}

/** A schedule in one line. */
export function scheduleLine(schedule: Schedule): string {
  const next = schedule.paused ? 'paused' : `next ${nextOf(schedule)}`
  return `${schedule.name}: ${whenOf(schedule)}, ${next}`
}

export const ls = defineVerb({
  usage: 'schedule ls',
  help: 'Lists the schedules: when they make tasks, the next time, and what the latest led to. --json prints one schedule per line, with its next three times.',
  positionals: { max: 0 },
  run: (io, { values }) =>
    withLedger(io, values, async (engine) => {
      const all: Schedule[] = []
      for (let after: string | null = ''; after !== null; ) {
        const page: Awaited<ReturnType<Engine['schedules']['list']>> = await engine.schedules.list({ after })
        for (const each of page.schedules) all.push(each)
        after = page.next
      }
      printTable(io, values, all, 'No schedules.', {
        NAME: ({ name }) => name,
        WHEN: whenOf,
        NEXT: nextOf,
        LAST: lastOf,
        TASK: ({ task }) => task.name,
      })
    }),
})

function changing(verb: 'pause' | 'resume', help: string): Verb {
  return defineVerb({
    usage: `schedule ${verb} NAME`,
    help,
    positionals: { min: 1, max: 1 },
    run: (io, { values, positionals: [name = ''] }) =>
      withLedger(io, values, async (engine) => {
        const { schedule } = await engine.bus.call(`schedules:${verb}`, { name }, cliCaller)
        printValue(io, values, schedule, scheduleLine(schedule))
      }),
  })
}

export const pause = changing('pause', 'Makes no tasks until the schedule is resumed, and none for the time between.')
export const resume = changing('resume', 'Resumes a paused schedule, with its next time from now on.')

export const trigger = defineVerb({
  usage: 'schedule trigger NAME',
  help: 'Makes a task of the schedule now, also while it is paused. Its rule for overlaps applies. Prints the id of the task.',
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [name = ''] }) =>
    withLedger(io, values, async (engine) => {
      const triggered = await engine.bus.call('schedules:trigger', { name }, cliCaller)
      const { outcome, taskId } = triggered
      const text = outcome === 'created' ? taskId : `${outcome}: ${taskId} is open`
      printValue(io, values, triggered, text)
    }),
})

export const backfill = defineVerb({
  usage: 'schedule backfill NAME --from T [--to T]',
  help: [
    'Makes the tasks of past times that have none, at most 1,000 at once, whatever else is open.',
    '  --from T  the first time: an ISO time, local without a zone',
    '  --to T    the last time; default: now',
  ].join('\n'),
  options: texts('from', 'to'),
  positionals: { min: 1, max: 1 },
  async run(io, { values, positionals: [name = ''] }) {
    const { from, to } = values
    if (from === undefined)
      throw misuse('The first time is missing: errand schedule backfill NAME --from 2030-01-31T08:00:00Z.')
    await withLedger(io, values, async (engine) => {
      const now = Math.floor(timeOf(engine))
      const request = {
        name,
        from: timeOption('from', from, now),
        to: to === undefined ? now : timeOption('to', to, now),
      }
      const filled = await engine.bus.call('schedules:backfill', request, cliCaller)
      printValue(io, values, filled, `${counted(filled.created, 'task')} for ${counted(filled.ticks, 'time')}`)
    })
  },
})

export const rm = defineVerb({
  usage: 'schedule rm NAME',
  help: 'Removes a schedule. Its tasks stay.',
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [name = ''] }) =>
    withLedger(io, values, async (engine) => {
      const { removed } = await engine.bus.call('schedules:remove', { name }, cliCaller)
      if (!removed)
        throw new ErrandError('NOT_FOUND', `Schedule not found: ${name}. "errand schedule ls" lists them.`, { name })
      printValue(io, values, { name, removed }, `${name} is removed.`)
    }),
})
