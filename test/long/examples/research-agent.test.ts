// The example in examples/research-agent, as a program, in this process, and on the command line, with its scripted model.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { parseScript } from '../../../src/agents/models/script.ts'
import { createScriptedModel } from '../../../src/agents/models/scripted-model.ts'
import { fileAbilities } from '../../../src/commands/files/file-abilities.ts'
import { createEngine } from '../../../src/engine/create-engine.ts'
import { Workplace } from '../../surfaces/cli/workplace.ts'

const folder = join(import.meta.dirname, '../../../examples/research-agent')
const script = join(folder, 'script.yaml')
const goal = 'Should the library move? Read the notes, each by a subtask of its own, and answer with reasons.'

describe('the research agent', () => {
  it('the research agent distributes the notes to three subtasks, and answers when they are done', async () => {
    const model = createScriptedModel(parseScript(readFileSync(script, 'utf8'), script))
    await using engine = await createEngine({ model, abilities: fileAbilities(join(folder, 'notes')) })
    const task = await engine.create({ goal })
    expect(await engine.result(task.id)).toMatch(/^Yes, the library should move/)
    const children = await engine.children(task.id)
    expect(children.map(({ name, status }) => `${name} ${status}`)).toEqual([
      'budget completed',
      'building completed',
      'readers completed',
    ])
    for (const child of children) {
      const [call] = await engine.calls(child.id)
      const file = readFileSync(join(folder, 'notes', `${child.name}.md`), 'utf8')
      expect(call).toMatchObject({ name: 'fs:read', status: 'completed', result: { text: file.trimEnd() } })
    }
    // The agent received the results of the subtasks before it answered.
    const last = model.prompts.findLast((prompt) => prompt.goal === goal)?.last
    for (const { result } of children) expect(last).toContain(result)
  })

  it('the research agent runs as a program, without network and key', async () => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(folder, 'index.ts')], { cwd: folder })
    expect(stdout).toMatch(/^Yes, the library should move to the former post office\.\n/)
    expect(stderr.match(/· task:create/g)).toHaveLength(3)
  })

  it('the research agent runs on the command line', async () => {
    await using place = new Workplace()
    const model = `script:${script}`
    const args = ['ask', goal, '--model', model, '--files', join(folder, 'notes'), '--key', 'library']
    const { code, out, err } = await place.start(...args).ended
    expect(code).toBe(0)
    expect(out).toContain('Yes, the library should move')
    for (const note of ['budget', 'building', 'readers']) expect(err).toMatch(new RegExp(`· ${note}: completed`))
    expect((await place.errand('tree', '--all')).out).toMatch(/readers/)
  })
})
