// `errand board done`: a task is completed, with what came of it.
import { texts } from '../../arguments.ts'
import { boardOptions, boardRef, fromHere, memberOptions, withBoard, writerOf } from '../../board-place.ts'
import { printChanged } from '../../board-text.ts'
import { inFlags } from '../../claim-words.ts'
import { givenResult } from '../../json-option.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
  usage: 'board done N [--as NAME] [--fence N] [--result JSON | RESULT…]',
  help: [
    'Completes a task, and says which others came free by it. What somebody has claimed is completed by its owner only; a pending task that nobody owns is begun and completed at once. RESULT is a text, --result a JSON value.',
    '  --as NAME  whose claim it is; default: ERRAND_AGENT, else ERRAND_OWNER',
    '  --fence N  the number of the claim, as "claim" printed it; required with a lease',
  ].join('\n'),
  options: { ...boardOptions, ...memberOptions, ...texts('result') },
  positionals: { min: 1 },
  async run(io, { values, positionals: [ref = '', ...words] }) {
    const result = givenResult(values.result, words) as never
    const writer = writerOf(io, values)
    return await withBoard(io, values, async ({ engine, board }) => {
      const id = await boardRef(engine, ref)
      const input = { id, status: 'completed', result, ...writer, board } as const
      const { task, unblocked } = await inFlags(ref, writer, () => engine.bus.call('board:update', input, fromHere))
      printChanged(io, values, task, unblocked, { ...task, unblocked: unblocked.map(({ id: freed }) => freed) })
    })
  },
})
