// The example in examples/team as a program: three agents on one task, and the facts that another task recalls.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const program = join(import.meta.dirname, '../../../examples/team/index.ts')
const lax = 'The session cookie is SameSite=Lax, for the redirect after the login comes from another site.'

it('X-026 the example team ends with the decision of two agents on main, and another task recalls it', async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program])
  expect(stderr).toBe('')
  const [progress, context, kept, later] = stdout.split(/\n\n(?=#|What main|Another)(?!##)/)
  expect(progress?.split('\n')).toEqual(['finder has ended.', 'fixer has ended.', 'reviewer has ended.'])
  expect(context).toMatch(/^# Task Context: Repair the login\ntask-\w+ · completed\n/)
  for (const line of [
    '[DONE] 1. Find the cause',
    '[DONE] 3. Try it in two browsers',
    '- fixer: The cookie gets through now.',
    '- [discovery 0.70] The redirect after the login drops the session cookie. (finder, unconfirmed)',
    `- [decision 0.80] ${lax} (fixer)`,
    'Progress: 3/3 done, 0 active, 0 todo, 0 blocked',
  ])
    expect(context).toContain(line)
  expect(kept).toBe(`What main keeps of it:\n- [decision 0.8] ${lax}`)
  expect(later).toMatch(/^Another task, later\.\nMy context: Here is relevant context from past tasks:\n/)
  expect(later).toContain(`\n\n{"statement":"${lax}","statedBy":[{"kind":"model","taskId":"task-`)
  expect(later).toContain('"agentId":"reviewer"}],"confidence":0.8,"branch":"main"}')
})
