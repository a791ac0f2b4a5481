// `errand board block` and `unblock`: which tasks come after which others.

import { misuse } from '../../arguments.ts'
import { boardOptions, boardRef, boardRefs, fromHere, withBoard } from '../../board-place.ts'
import { printBoard, printFreed } from '../../board-text.ts'
import { exitCodes } from '../../exit-code.ts'
import { type CommandIo, printJson } from '../../io.ts'
import { defineVerb } from '../../verb.ts'

const options = { ...boardOptions, after: { type: 'string', multiple: true } } as const

export const blockVerb = defineVerb({
  usage: 'board block N --after M,…',
  help: 'Lets a pending task come after others: it may be claimed when they are completed. --after may be given several times.',
  options,
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [ref = ''] }) => rewire(io, values, ref, 'addBlockedBy'),
})

export const unblockVerb = defineVerb({
  usage: 'board unblock N --after M,…',
  help: 'Lets a task no longer come after others. --after may be given several times.',
  options,
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [ref = ''] }) => rewire(io, values, ref, 'removeBlockedBy'),
})

interface Flags {
  after?: string[] | undefined
  board?: string | undefined
  ledger?: string | undefined
  json?: boolean | undefined
}

async function rewire(
  io: CommandIo,
  values: Flags,
  ref: string,
  change: 'addBlockedBy' | 'removeBlockedBy',
): Promise<number> {
  if (values.after === undefined) throw misuse('Say after which tasks: --after 1,2')
  return await withBoard(io, values, async ({ engine, board }) => {
    const id = await boardRef(engine, ref)
    const input = { id, [change]: await boardRefs(engine, values.after), board }
    const { task, unblocked } = await engine.bus.call('board:update', input, fromHere)
    if (values.json) printJson(io, task)
    else {
      printBoard(io, [task])
      printFreed(io, unblocked)
    }
    return exitCodes.done
  })
}
