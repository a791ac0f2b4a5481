// A task of the board in somebody's hands: `errand board claim`, `done`, `release`, and `log`, which tells of all claims.

import { isoTime } from '../../../../core/clock.ts'
import { ErrandError } from '../../../../core/errors.ts'
import type { BoardTask } from '../../../../entities/board.ts'
import { lists, misuse, texts } from '../../../../terminal/arguments.ts'
import { claimText, printBoard, printChanged } from '../../../../terminal/board-text.ts'
import { cliCaller } from '../../../../terminal/caller.ts'
import { type CommandIo, print, printJson } from '../../../../terminal/io.ts'
import { durationOption, givenResult } from '../../../../terminal/option-values.ts'
import { shellCommand } from '../../../../terminal/shell-quote.ts'
import { printTable } from '../../../../terminal/table.ts'
import { indented } from '../../../../terminal/terminal-text.ts'
import { boardOptions, boardRef, requireMember, withBoard, writerOf } from '../../board-target.ts'
import { ownerOptions } from '../../owner-flags.ts'
import { rewording, type Wordings } from '../../rewording.ts'
import { defineVerb } from '../../verb.ts'

export const claim = defineVerb({
  usage: 'board claim N|next --as NAME [--lease DURATION] [--role R] [--tag T]… [--parent N]',
  help: [
    'Takes a task that nobody owns and nothing blocks: it is in progress then, and yours alone. "next" is the most urgent one.',
    'Exits with 1 when there is none, or somebody was faster.',
    '  --as NAME         who you are; default: ERRAND_AGENT, else ERRAND_OWNER',
    '  --lease DURATION  the claim lapses unless "errand heartbeat" comes in time: 90s, 5m, 2h; default: it never lapses',
    '  --role R          tasks for this role, too',
    '  --tag T           next: only tasks with this tag; with several, with all of them',
    '  --parent N        next: only parts of this task',
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
      throw misuse('--tag and --parent choose the next task: they do not go with a task that is named.')
    return await withBoard(io, values, async ({ engine, board }) => {
      const below = parent === undefined ? undefined : await boardRef(engine, parent)
      const { task } = isNext
        ? await engine.bus.call('board:claim_next', { ...terms, tags, parent: below, board }, cliCaller)
        : await engine.bus.call('board:claim', { ...terms, id: await boardRef(engine, ref), board }, cliCaller)
      if (task === null) throw nothingToClaim()
      if (values.json) printJson(io, task)
      else describe(io, task, values)
    })
  },
})

function nothingToClaim(): ErrandError {
  return new ErrandError(
    'NOT_CLAIMABLE',
    'There is nothing to claim: every such task is taken, blocked or done. "errand board" shows them.',
    { reason: 'none' },
  )
}

function describe(io: CommandIo, task: BoardTask, flags: { ledger?: string | undefined; board?: string | undefined }) {
  printBoard(io, [task])
  print(io, `  ${claimText(task)}`)
  if (task.description !== '') print(io, indented(task.description))
  const fence = task.leaseUntil === null ? [] : ['--fence', `${task.fence}`]
  const place = (['board', 'ledger'] as const).flatMap((name) => (flags[name] ? [`--${name}`, flags[name]] : []))
  print(io, `    ${shellCommand('errand', 'board', 'done', `${task.id}`, '--as', task.owner, ...fence, ...place)}`)
}

export const done = defineVerb({
  usage: 'board done N [--as NAME] [--fence N] [--result JSON | RESULT…]',
  help: [
    'Completes a task, and says which others came free by it. What somebody has claimed is completed by its owner only; a pending task that nobody owns is begun and completed at once. RESULT is a text, --result a JSON value.',
    '  --as NAME  whose claim it is; default: ERRAND_AGENT, else ERRAND_OWNER',
    '  --fence N  the number of the claim, as "claim" printed it; required with a lease',
  ].join('\n'),
  options: { ...boardOptions, ...ownerOptions, ...texts('result') },
  positionals: { min: 1 },
  async run(io, { values, positionals: [ref = '', ...words] }) {
    const result = givenResult(values.result, words) as never
    const writer = writerOf(io, values)
    return await withBoard(io, values, async ({ engine, board }) => {
      const id = await boardRef(engine, ref)
      const input = { id, status: 'completed', result, ...writer, board } as const
      const { task, unblocked } = await inFlags(ref, writer, () => engine.bus.call('board:update', input, cliCaller))
      printChanged(io, values, task, unblocked, { ...task, unblocked: unblocked.map(({ id: freed }) => freed) })
    })
  },
})

export const release = defineVerb({
  usage: 'board release N [--as NAME] [--fence N] [--reason TEXT]',
  help: [
    'Lets go of a task: it is pending again, and anybody may claim it.',
    '  --as NAME      whose claim it is; default: ERRAND_AGENT, else ERRAND_OWNER',
    '  --fence N      the number of the claim, as "claim" printed it; required with a lease',
    '  --reason TEXT  why, for whoever takes it next',
  ].join('\n'),
  options: { ...boardOptions, ...ownerOptions, ...texts('reason') },
  positionals: { min: 1, max: 1 },
  async run(io, { values, positionals: [ref = ''] }) {
    const writer = writerOf(io, values)
    return await withBoard(io, values, async ({ engine, board }) => {
      const id = await boardRef(engine, ref)
      const input = { id, reason: values.reason, ...writer, board }
      const { task } = await inFlags(ref, writer, () => engine.bus.call('board:release', input, cliCaller))
      printChanged(io, values, task)
    })
  },
})

export const log = defineVerb({
  usage: 'board log N',
  help: 'Lists the claims of a task, the oldest first: when, who took it or let go of it, by which claim, in which role, from where, and why. --json gives one a line.',
  options: boardOptions,
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [ref = ''] }) =>
    withBoard(io, values, async ({ engine, board }) => {
      const { claims } = await engine.bus.call('board:log', { id: await boardRef(engine, ref), board }, cliCaller)
      printTable(io, values, claims, 'Nobody has claimed it.', {
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

/** What `write` resolves to; what it refuses because of who writes says which flag would help. `ref` is the task as it was named. */
async function inFlags<T>(ref: string, writer: Writer, write: () => Promise<T>): Promise<T> {
  const number = ref.trim().replace(/^#/, '')
  const wordings: Wordings = {
    NOT_OWNER: (details) => notOwnerText(number, writer, details),
    STALE_CLAIM: (details) => staleText(number, writer, details),
  }
  return await rewording(wordings, write)
}

function notOwnerText(number: string, { as }: Writer, { owner }: Record<string, unknown>): string {
  const is = `Task ${number} is ${String(owner)}'s`
  return as === undefined ? `${is}: --as NAME (or ERRAND_AGENT) says who writes.` : `${is}, not ${as}'s.`
}

function staleText(number: string, { as, fence }: Writer, { owner }: Record<string, unknown>): string {
  if (fence === undefined && owner === as)
    return `The claim of ${as} on task ${number} has a lease, so its number must be quoted: --fence N, as "errand board claim" printed it.`
  const which = fence === undefined ? '' : ` (number ${fence})`
  const now =
    typeof owner === 'string' && owner !== as ? `it is ${owner}'s now` : 'it was another, or its lease is over'
  return `The claim of ${as}${which} on task ${number} does not hold: ${now}. "errand board log ${number}" shows all of them.`
}
