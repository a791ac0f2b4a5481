// The claims of the tasks of a board: `errand board claim`, `done`, `release`, and `log`.

import type { OutputOfAbility } from '../../../../bus/ability-types.ts'
import { isoTime } from '../../../../core/clock.ts'
import { ErrandError } from '../../../../core/errors.ts'
import type { BoardTask } from '../../../../entities/board.ts'
import { lists, misuse, texts } from '../../../terminal/arguments.ts'
import { claimText, printBoard, printChanged } from '../../../terminal/board-text.ts'
import { cliCaller } from '../../../terminal/caller.ts'
import { type CommandIo, print, printJson } from '../../../terminal/io.ts'
import { durationOption, givenResult } from '../../../terminal/option-values.ts'
import { shellCommand } from '../../../terminal/shell-quote.ts'
import { printTable } from '../../../terminal/table.ts'
import { indented } from '../../../terminal/terminal-text.ts'
import { boardOptions, boardRef, requireMember, withBoard, writerOf } from '../../board-target.ts'
import { rewording, type Wordings } from '../../cli-errors.ts'
import { ownerOptions } from '../../owner-flags.ts'
import { defineVerb } from '../../verb.ts'

export const claim = defineVerb({
  usage: 'board claim N|next --as NAME [--lease DURATION] [--role R] [--tag T]… [--parent N]',
  help: [
    'Claims a task that has no owner and is not blocked: it is then in progress, and no other client can claim it. "next" is the most urgent task.',
    'Exits with 1 when there is no such task, or another client has claimed it first.',
    '  --as NAME         your name; default: ERRAND_AGENT, else ERRAND_OWNER',
    '  --lease DURATION  the claim expires unless "errand heartbeat" renews it in time: 90s, 5m, 2h; default: it never expires',
    '  --role R          include tasks for this role',
    '  --tag T           with next: only tasks with this tag; if given several times, with all of them',
    '  --parent N        with next: only parts of this task',
  ].join('\n'),
  options: { ...boardOptions, ...texts('as', 'lease', 'role', 'parent'), ...lists('tag') },
  positionals: { min: 1, max: 1 },
  async run(io, { values, positionals: [ref = ''] }) {
    const { lease, role, tag: tags, parent } = values
    const terms = {
      as: requireMember(io, values),
      role,
      leaseMs: lease === undefined ? undefined : durationOption('lease', lease),
    }
    const isNext = ref === 'next'
    if (!isNext && (tags !== undefined || parent !== undefined))
      throw misuse('--tag and --parent choose the next task: they cannot be combined with the number of a task.')
    return await withBoard(io, values, async ({ engine, board }) => {
      const below = parent === undefined ? undefined : await boardRef(engine, parent)
      const task = isNext
        ? taskOf(await engine.bus.call('board:claim_next', { ...terms, tags, parent: below, board }, cliCaller))
        : (await engine.bus.call('board:claim', { ...terms, id: await boardRef(engine, ref), board }, cliCaller)).task
      if (values.json) printJson(io, task)
      else describe(io, task, values)
    })
  },
})

/** @throws ErrandError NOT_CLAIMABLE with the reason why there is none. */
function taskOf({ task, why }: OutputOfAbility<'board:claim_next'>): BoardTask {
  if (task !== null) return task
  throw new ErrandError('NOT_CLAIMABLE', `${why?.message} "errand board" shows the tasks.`, { reason: 'none' })
}

function describe(io: CommandIo, task: BoardTask, flags: { ledger?: string | undefined; board?: string | undefined }) {
  printBoard(io, [task])
  print(io, `  ${claimText(task)}`)
  if (task.description !== '') print(io, indented(task.description))
  const fence = task.leaseUntil === null ? [] : ['--fence', `${task.fence}`]
  const location = (['board', 'ledger'] as const).flatMap((name) => (flags[name] ? [`--${name}`, flags[name]] : []))
  print(io, `    ${shellCommand('errand', 'board', 'done', `${task.id}`, '--as', task.owner, ...fence, ...location)}`)
}

export const done = defineVerb({
  usage: 'board done N [--as NAME] [--fence N] [--result JSON | RESULT…]',
  help: [
    'Completes a task, and prints the tasks that it unblocked. A claimed task can only be completed by its owner; a pending task without an owner is started and completed at once. RESULT is text; --result takes a JSON value.',
    '  --as NAME  the owner of the claim; default: ERRAND_AGENT, else ERRAND_OWNER',
    '  --fence N  the number of the claim, as "claim" printed it; required for a claim with a lease',
  ].join('\n'),
  options: { ...boardOptions, ...ownerOptions, ...texts('result') },
  positionals: { min: 1 },
  async run(io, { values, positionals: [ref = '', ...resultWords] }) {
    const result = givenResult(values.result, resultWords) as never
    const writer = writerOf(io, values)
    return await withBoard(io, values, async ({ engine, board }) => {
      const id = await boardRef(engine, ref)
      const input = { id, status: 'completed', result, ...writer, board } as const
      const { task, unblocked } = await withFlagHints(ref, writer, () =>
        engine.bus.call('board:update', input, cliCaller),
      )
      printChanged(io, values, task, unblocked, {
        ...task,
        unblocked: unblocked.map(({ id: unblockedId }) => unblockedId),
      })
    })
  },
})

export const release = defineVerb({
  usage: 'board release N [--as NAME] [--fence N] [--reason TEXT]',
  help: [
    'Releases a task: it is pending again and may be claimed by others.',
    '  --as NAME      the owner of the claim; default: ERRAND_AGENT, else ERRAND_OWNER',
    '  --fence N      the number of the claim, as "claim" printed it; required for a claim with a lease',
    '  --reason TEXT  a reason, for the next owner',
  ].join('\n'),
  options: { ...boardOptions, ...ownerOptions, ...texts('reason') },
  positionals: { min: 1, max: 1 },
  async run(io, { values, positionals: [ref = ''] }) {
    const writer = writerOf(io, values)
    return await withBoard(io, values, async ({ engine, board }) => {
      const id = await boardRef(engine, ref)
      const input = { id, reason: values.reason, ...writer, board }
      const { task } = await withFlagHints(ref, writer, () => engine.bus.call('board:release', input, cliCaller))
      printChanged(io, values, task)
    })
  },
})

export const log = defineVerb({
  usage: 'board log N',
  help: 'Lists the claims and releases of a task, oldest first: time, owner, number of the claim, role, source and reason. --json prints one per line.',
  options: boardOptions,
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [ref = ''] }) =>
    withBoard(io, values, async ({ engine, board }) => {
      const { claims } = await engine.bus.call('board:log', { id: await boardRef(engine, ref), board }, cliCaller)
      printTable(io, values, claims, 'The task was never claimed.', {
        time: ({ at }) => isoTime(at),
        event: ({ event }) => event,
        owner: ({ owner }) => owner,
        claim: ({ fence }) => fence,
        role: ({ role }) => role,
        from: ({ source }) => source,
        reason: ({ reason }) => reason,
      })
    }),
})

type Writer = ReturnType<typeof writerOf>

/** Returns the result of `write`; refusals because of the writer name the flag that would help. `ref` is the task as the user named it. */
async function withFlagHints<T>(ref: string, writer: Writer, write: () => Promise<T>): Promise<T> {
  const number = ref.trim().replace(/^#/, '')
  const wordings: Wordings = {
    NOT_OWNER: (details) => notOwnerText(number, writer, details),
    STALE_CLAIM: (details) => staleText(number, writer, details),
  }
  return await rewording(wordings, write)
}

function notOwnerText(number: string, { as }: Writer, { owner }: Record<string, unknown>): string {
  const claimed = `Task ${number} is claimed by ${String(owner)}`
  return as === undefined ? `${claimed}: give your name with --as NAME or ERRAND_AGENT.` : `${claimed}, not by ${as}.`
}

function staleText(number: string, { as, fence }: Writer, { owner }: Record<string, unknown>): string {
  if (fence === undefined && owner === as)
    return `The claim of ${as} on task ${number} has a lease, so its number is required: --fence N, as "errand board claim" printed it.`
  const which = fence === undefined ? '' : ` (number ${fence})`
  const now =
    typeof owner === 'string' && owner !== as
      ? `${owner} has claimed it`
      : 'its number is another, or its lease is over'
  return `The claim of ${as}${which} on task ${number} is not valid: ${now}. "errand board log ${number}" lists all claims.`
}
