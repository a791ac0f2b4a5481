// How `show` prints the error of a task, in the command line and in the REPL.
import { expect, it } from 'vitest'
import { createEngine, Failure } from '../../../src/index.ts'
import { describeTask, formatTaskDetails, readTaskDetails } from '../../../src/surfaces/terminal/task-details.ts'

it('show prints the class, message and code of an error, its details, its stack, and the same of its causes', async () => {
  const breaks = () => {
    throw new Failure('out of paper', {
      code: 'PAPER',
      details: { tray: 2 },
      cause: new RangeError('below', { cause: 'a text' }),
    })
  }
  await using engine = await createEngine({ executors: { breaks } })
  const { id } = await engine.create({ executor: 'breaks' })
  await engine.settled(id)
  const task = (await engine.get(id))!
  for (const lines of [formatTaskDetails(await readTaskDetails(engine as never, task), 100), describeTask(task)]) {
    const first = lines.findIndex((line) => /^error +\S/.test(line))
    const error = lines.slice(first).map((line) => line.replace(/^error/, '').trim())
    const causeAt = error.findIndex((line) => line.startsWith('caused by'))
    expect(error.slice(0, 2)).toEqual(['Failure: out of paper (PAPER)', 'details: {"tray":2}'])
    expect(error[2]).toMatch(/^at .*task-details\.test\.ts:\d+:\d+/)
    expect(error[causeAt]).toBe('caused by RangeError: below')
    expect(error[causeAt + 1]).toMatch(/^at .*task-details\.test\.ts:\d+:\d+/)
    expect(error).toContain('caused by a text')
    expect(lines.join('\n')).not.toContain('\\n')
  }
})
