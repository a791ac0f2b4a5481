// `errand board unblock`: a task of the board comes no longer after others.
import { defineVerb } from '../../verb.ts'
import { options, rewire } from './block.ts'

export const verb = defineVerb({
  usage: 'board unblock N --after M,…',
  help: 'Lets a task no longer come after others. --after may be given several times.',
  options,
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [ref = ''] }) => rewire(io, values, ref, 'removeBlockedBy'),
})
