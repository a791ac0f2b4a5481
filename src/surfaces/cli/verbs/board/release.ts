// `errand board release`: the owner lets go of a task, and others may claim it.
import { texts } from '../../arguments.ts'
import { boardOptions, boardRef, fromHere, memberOptions, withBoard, writerOf } from '../../board-place.ts'
import { printChanged } from '../../board-text.ts'
import { inFlags } from '../../claim-words.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
  usage: 'board release N [--as NAME] [--fence N] [--reason TEXT]',
  help: [
    'Lets go of a task: it is pending again, and anybody may claim it.',
    '  --as NAME      whose claim it is; default: ERRAND_AGENT, else ERRAND_OWNER',
    '  --fence N      the number of the claim, as "claim" printed it; required with a lease',
    '  --reason TEXT  why, for whoever takes it next',
  ].join('\n'),
  options: { ...boardOptions, ...memberOptions, ...texts('reason') },
  positionals: { min: 1, max: 1 },
  async run(io, { values, positionals: [ref = ''] }) {
    const writer = writerOf(io, values)
    return await withBoard(io, values, async ({ engine, board }) => {
      const id = await boardRef(engine, ref)
      const input = { id, reason: values.reason, ...writer, board }
      const { task } = await inFlags(ref, writer, () => engine.bus.call('board:release', input, fromHere))
      printChanged(io, values, task)
    })
  },
})
