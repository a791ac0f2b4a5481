// `errand board done`: a task is completed, with what came of it.
import { misuse } from '../../arguments.ts'
import { boardOptions, boardRef, fromHere, memberOptions, withBoard, writerOf } from '../../board-place.ts'
import { printBoard, printFreed } from '../../board-text.ts'
import { inFlags } from '../../claim-words.ts'
import { exitCodes } from '../../exit-code.ts'
import { printJson } from '../../io.ts'
import { jsonOption } from '../../json-option.ts'
import { defineVerb } from '../../verb.ts'

export const doneVerb = defineVerb({
  usage: 'board done N [--as NAME] [--fence N] [--result JSON | RESULT…]',
  help: [
    'Completes a task, and says which others came free by it. What somebody has claimed is completed by its owner only; a pending task that nobody owns is begun and completed at once. RESULT is a text, --result a JSON value.',
    '  --as NAME  whose claim it is; default: ERRAND_AGENT, else ERRAND_OWNER',
    '  --fence N  the number of the claim, as "claim" printed it; required with a lease',
  ].join('\n'),
  options: { ...boardOptions, ...memberOptions, result: { type: 'string' } },
  positionals: { min: 1 },
  async run(io, { values, positionals: [ref = '', ...words] }) {
    if (values.result !== undefined && words.length > 0)
      throw misuse(`The result is given twice: by --result and as "${words.join(' ')}".`)
    const json = values.result === undefined ? undefined : jsonOption('result', values.result, '{"ok": true}')
    const result = words.length > 0 ? words.join(' ') : (json as never)
    const writer = writerOf(io, values)
    return await withBoard(io, values, async ({ engine, board }) => {
      const id = await boardRef(engine, ref)
      const input = { id, status: 'completed', result, ...writer, board } as const
      const { task, unblocked } = await inFlags(ref, writer, () => engine.bus.call('board:update', input, fromHere))
      if (values.json) printJson(io, { ...task, unblocked: unblocked.map((each) => each.id) })
      else {
        printBoard(io, [task])
        printFreed(io, unblocked)
      }
      return exitCodes.done
    })
  },
})
