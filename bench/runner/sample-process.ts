// A process that takes one sample and sends it to its parent.
import { type SampleOrder, sampleHere } from './sample.ts'

process.once('disconnect', () => process.exit(1))
const report = await sampleHere(JSON.parse(process.argv[2] as string) as SampleOrder)
// Peers may leave timers or connections open.
process.send?.(report, undefined, {}, () => process.exit(0))
