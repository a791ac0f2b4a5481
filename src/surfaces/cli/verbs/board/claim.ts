// `errand board claim`: a task becomes one member's, so that no two work on it.
import type { BoardTask } from '../../../../entities/board.ts'
import { ErrandError } from '../../../../errors.ts'
import { lists, misuse, texts } from '../../arguments.ts'
import { type BoardAccess, boardOptions, boardRef, fromHere, requireMember, withBoard } from '../../board-place.ts'
import { claimText, printBoard } from '../../board-text.ts'
import { type CommandIo, print, printJson } from '../../io.ts'
import { shellCommand } from '../../shell-words.ts'
import { durationOption } from '../../time-options.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
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
    return await withBoard(io, values, async (place) => {
      const task = isNext ? await claimNext(place, { ...terms, tags }, parent) : await claimOne(place, terms, ref)
      if (values.json) printJson(io, task)
      else describe(io, task, values)
    })
  },
})

interface Terms {
  as: string
  role: string | undefined
  leaseMs: number | undefined
}

async function claimOne({ engine, board }: BoardAccess, terms: Terms, ref: string): Promise<BoardTask> {
  const id = await boardRef(engine, ref)
  return (await engine.bus.call('board:claim', { id, ...terms, board }, fromHere)).task
}

async function claimNext(
  { engine, board }: BoardAccess,
  terms: Terms & { tags: string[] | undefined },
  parent: string | undefined,
): Promise<BoardTask> {
  const below = parent === undefined ? undefined : await boardRef(engine, parent)
  const { task } = await engine.bus.call('board:claim_next', { ...terms, parent: below, board }, fromHere)
  if (task !== null) return task
  throw new ErrandError(
    'NOT_CLAIMABLE',
    'There is nothing to claim: every such task is taken, blocked or done. "errand board" shows them.',
    { reason: 'none' },
  )
}

function describe(io: CommandIo, task: BoardTask, flags: { ledger?: string | undefined; board?: string | undefined }) {
  printBoard(io, [task])
  print(io, `  ${claimText(task)}`)
  if (task.description !== '') print(io, `  ${task.description.replaceAll('\n', '\n  ')}`)
  const fence = task.leaseUntil === null ? [] : ['--fence', `${task.fence}`]
  const place = (['board', 'ledger'] as const).flatMap((name) => (flags[name] ? [`--${name}`, flags[name]] : []))
  print(io, `    ${shellCommand('errand', 'board', 'done', `${task.id}`, '--as', task.owner, ...fence, ...place)}`)
}
