// A plan that runs in a process of its own until a file appears.
import type { ErrandProcess, Workplace } from './workplace.ts'

export const untilFile = (file: string) => `echo waiting; while [ ! -e ${file} ]; do sleep 0.02; done`

/** A plan whose task \`busy\` runs until the file \`go\` appears, and a process that runs it. */
export async function running(place: Workplace): Promise<{ run: ErrandProcess; id: string }> {
  place.write(
    'plan.yaml',
    `tasks: { busy: { run: "echo start >> runs; ${untilFile('go')}; echo end >> runs" }, next: { run: echo next >> runs, after: busy } }`,
  )
  const run = place.start('run', 'plan.yaml')
  await run.printed(/busy +\| waiting/)
  return { run, id: (await place.task('busy')).id }
}
