// What a plan may contain, and how a wrong one is refused: before anything is created, with the line and the column.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ErrandError } from '../../src/core/errors.ts'
import { commandLineExecutors, readPlan } from '../../src/plans/parse-plan.ts'
import { planOf } from '../surfaces/cli/plan-text.ts'

const refusalOf = (text: string): ErrandError => {
  try {
    planOf(text)
  } catch (error) {
    if (ErrandError.isInstance(error)) return error
    throw error
  }
  throw new Error('The plan was accepted')
}

const specOf = (text: string) => planOf(`tasks:\n  a: ${text}`).byPath.get('a')?.spec

describe('a plan', () => {
  it('a plan turns a command into the executor shell, in the folder of the plan', () => {
    expect(specOf('{ run: make }')).toEqual({
      name: 'a',
      executor: 'shell',
      input: { run: 'make', cwd: '/plans', env: {} },
    })
  })

  it('a plan turns a question into the executor ask, and its timeout into the time for the answer', () => {
    expect(specOf('{ ask: Really? }')).toEqual({ name: 'a', executor: 'ask', input: { question: 'Really?' } })
    expect(specOf('{ ask: { question: Really?, default: false, schema: { type: boolean } }, timeout: 5m }')).toEqual({
      name: 'a',
      executor: 'ask',
      input: { question: 'Really?', default: false, schema: { type: 'boolean' }, timeoutMs: 300_000 },
    })
    expect(specOf('{ ask: { question: Really?, for: anyone } }')?.input).toEqual({ question: 'Really?', for: 'anyone' })
  })

  it('a plan takes the fields of create as they are', () => {
    const fields = {
      description: 'd',
      priority: 3,
      timeoutMs: 5,
      notBefore: 7,
      onInterrupt: 'ask',
      metadata: { a: 1 },
      blockedBy: ['task-x'],
    }
    const spec = specOf(JSON.stringify({ executor: 'shell', input: { run: 'x' }, name: 'A', ...fields }))
    expect(spec).toEqual({ name: 'A', executor: 'shell', input: { run: 'x' }, ...fields })
  })

  it('a plan reads retry as a number of attempts or as a policy', () => {
    expect(specOf('{ run: x, retry: 3 }')?.retry).toEqual({ maxAttempts: 3 })
    expect(specOf('{ run: x, retry: { maxAttempts: 2, backoffMs: 10, backoff: exponential } }')?.retry).toEqual({
      maxAttempts: 2,
      backoffMs: 10,
      backoff: 'exponential',
    })
  })

  it.each([
    ['1500ms', 1_500],
    ['90s', 90_000],
    ['1.5s', 1_500],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
  ])('a plan reads the timeout %s', (text, timeoutMs) => {
    expect(specOf(`{ run: x, timeout: ${text} }`)?.timeoutMs).toBe(timeoutMs)
  })

  it('a plan passes input to the standard input of a command: text as it is, other values as JSON', () => {
    expect(specOf('{ run: cat, input: hello }')?.input).toMatchObject({ stdin: 'hello' })
    expect(specOf('{ run: cat, input: [1, { a: b }] }')?.input).toMatchObject({ stdin: '[1,{"a":"b"}]\n' })
  })

  it('a plan passes env, cwd and shell down through its groups, the nearest one first', () => {
    const plan = planOf(`
cwd: sub
shell: /bin/sh
env: { A: 1, B: one }
tasks:
  g:
    cwd: deeper
    env: { B: two }
    tasks:
      t: { run: x, env: { C: true, D: { secret: DEPLOY_KEY } } }
      absolute: { run: x, cwd: /elsewhere }
`)
    expect(plan.byPath.get('g/t')?.spec.input).toEqual({
      run: 'x',
      cwd: '/plans/sub/deeper',
      env: { A: '1', B: 'two', C: 'true', D: { secret: 'DEPLOY_KEY' } },
      shell: '/bin/sh',
    })
    expect(plan.byPath.get('g/absolute')?.spec.input).toMatchObject({ cwd: '/elsewhere' })
  })

  it.each(['3.10', '1e3', '0x10', '0755', '+4912', '-0', '.inf', 'True', 'no', '2024-01-02', '12345678901234567890'])(
    'a variable is the text %s as it is written',
    (written) => {
      const spec = planOf(`env: { A: ${written} }\ntasks: { a: { run: x, env: { B: ${written} } } }`).byPath.get(
        'a',
      )?.spec
      expect(spec?.input).toMatchObject({ env: { A: written, B: written } })
    },
  )

  it('a variable is the text as it is written where it comes by an alias or a merge key, and the same scalar is a number elsewhere', () => {
    const plan = planOf(`
x-base: &base { env: &env { A: 3.10, B: &b 1.20 } }
tasks:
  a: { <<: *base, run: x }
  b: { run: x, env: { <<: *env, C: *b } }
  c: { run: x, env: *env, metadata: { b: *b, yes: True } }
`)
    expect(['a', 'b', 'c'].map((path) => plan.byPath.get(path)?.spec.input)).toMatchObject([
      { env: { A: '3.10', B: '1.20' } },
      { env: { A: '3.10', B: '1.20', C: '1.20' } },
      { env: { A: '3.10', B: '1.20' } },
    ])
    expect(plan.byPath.get('c')?.spec.metadata).toEqual({ b: 1.2, yes: true })
  })

  it('a plan gives each task a path, and the blockers of the groups around it', () => {
    const plan = planOf(
      'tasks: { a: { run: x }, g: { after: a, tasks: { b: { run: x }, c: { after: [b], run: x } } } }',
    )
    expect([...plan.byPath.keys()]).toEqual(['a', 'g', 'g/b', 'g/c'])
    expect(plan.byPath.get('g/c')).toMatchObject({ parent: 'g', after: ['g/b'], comesAfter: ['g/b', 'a'] })
  })

  it('a plan has its own name, else that of its file', () => {
    expect(planOf('name: nightly\ntasks: { a: { run: x } }').name).toBe('nightly')
    expect(planOf('tasks: { a: { run: x } }', '/plans/report.yml').name).toBe('report')
  })

  it('a plan may be JSON, with tabs', () => {
    expect(planOf('{\n\t"tasks": {\n\t\t"a": { "run": "x" }\n\t}\n}').byPath.get('a')?.spec.name).toBe('a')
  })

  it('a plan may share parts by anchors', () => {
    const plan = planOf('tasks: { a: { run: x, retry: &often { maxAttempts: 5 } }, b: { run: y, retry: *often } }')
    expect(plan.byPath.get('b')?.spec.retry).toEqual({ maxAttempts: 5 })
  })
})

describe('merge keys of a plan', () => {
  const common = 'x-common: &common { timeout: 5m, retry: 3, env: { A: one } }\n'

  it('a merge key puts the keys of an anchor into a task, whose own keys come first', () => {
    const plan = planOf(
      `${common}tasks:\n  a: { <<: *common, run: x }\n  b:\n    run: y\n    retry: 1\n    <<: *common`,
    )
    expect(plan.byPath.get('a')?.spec).toMatchObject({ timeoutMs: 300_000, retry: { maxAttempts: 3 } })
    expect(plan.byPath.get('a')?.spec.input).toMatchObject({ env: { A: 'one' } })
    expect(plan.byPath.get('b')?.spec).toMatchObject({ timeoutMs: 300_000, retry: { maxAttempts: 1 } })
  })

  it('a merge key takes several mappings, the first before the others, which may merge others in turn', () => {
    const text = `${common}x-more: &more { <<: *common, timeout: 1m, priority: 2 }\nx-other: &other { priority: 7 }\n`
    const plan = planOf(`${text}tasks: { a: { <<: [*other, *more], run: x } }`)
    expect(plan.byPath.get('a')?.spec).toMatchObject({ priority: 7, timeoutMs: 60_000, retry: { maxAttempts: 3 } })
  })

  it('merge keys that stand for more than 100,000 keys are refused', () => {
    const wide = Array.from({ length: 2_000 }, (_, index) => `w${index}: 1`).join(', ')
    const merging = Array.from({ length: 51 }, (_, index) => `m${index}: { <<: *wide }`).join(', ')
    expect(() => planOf(`x-wide: &wide { ${wide} }\nx-all: { ${merging} }\ntasks: { a: { run: x } }`)).toThrow(
      /plan.yaml:2:.*more than 100000 keys/,
    )
  })
})

describe('the hash of a definition', () => {
  const hashOf = (text: string, path = 'a', file?: string) => planOf(text, file).byPath.get(path)?.definitionHash

  it('the hash of a definition changes with the command, its folder, and its blockers', () => {
    const texts = [
      'tasks: { a: { run: x }, b: { run: y } }',
      'tasks: { a: { run: z }, b: { run: y } }',
      'tasks: { a: { run: x, after: b }, b: { run: y } }',
      'tasks: { a: { run: x, cwd: sub }, b: { run: y } }',
      'env: { A: 1 }\ntasks: { a: { run: x }, b: { run: y } }',
      'tasks: { a: { run: x, retry: 2 }, b: { run: y } }',
    ]
    expect(new Set(texts.map((text) => hashOf(text))).size).toBe(texts.length)
  })

  it('the hash of a definition changes with the blockers of the group around it', () => {
    const text = (after: string) => `tasks: { x: { run: x }, g: { ${after} tasks: { a: { run: x } } } }`
    expect(hashOf(text('after: x,'), 'g/a')).not.toBe(hashOf(text(''), 'g/a'))
  })

  it('the hash of a definition does not change with the order of keys, the folder of the plan, or its other tasks', () => {
    const first = hashOf('tasks: { a: { run: x, priority: 1 } }')
    expect(hashOf('tasks: { a: { priority: 1, run: x }, b: { run: y } }', 'a', '/elsewhere/plan.yaml')).toBe(first)
  })
})

describe('a plan is refused with line and column', () => {
  it.each<[string, string, number, number, RegExp]>([
    ['bad YAML', 'tasks:\n  a:\n    run: x\n   b: z', 4, 1, /same column/],
    ['a tab as indentation', 'tasks:\n\ta: 1', 2, 1, /Tabs/],
    ['an alias as a key', 'tasks:\n  ? &k a\n  : { run: x }\n  *k : { run: y }', 4, 3, /alias cannot be a key/],
    ['an alias without anchor', 'tasks:\n  a: *foo', 2, 6, /\*foo has no anchor/],
    ['an alias before its anchor', 'tasks:\n  a: *foo\n  b: &foo { run: x }', 2, 6, /\*foo has no anchor before it/],
    [
      'the first alias beyond 1,000, each of an anchor of its own',
      Array.from({ length: 5_000 }, (_, index) => `k${index}: [&a${index} x, *a${index}]`).join('\n'),
      1_001,
      19,
      /more than 1000 aliases/,
    ],
    ['a merge key without a mapping', 'tasks:\n  a:\n    <<: [x]\n    run: x', 3, 5, /Write <<: \*name/],
    ['a key of the author inside of a task', 'tasks:\n  a: { run: x, x-note: y }', 2, 16, /has no key "x-note"/],
    ['a second document', 'tasks: { a: { run: x } }\n---\nb: 1', 2, 1, /one document/],
    ['a duplicate name', 'tasks:\n  a: { run: x }\n  a: { run: y }', 3, 3, /The name a is given twice/],
    [
      'a duplicate name in JSON',
      '{\n  "tasks": {\n    "a": {"run": "x"},\n    "a": {"run": "y"} }}',
      4,
      5,
      /given twice/,
    ],
    [
      'an unknown key, nearest named',
      'tasks:\n  b: { run: y, afer: a }',
      2,
      16,
      /no key "afer". Did you mean "after"\?/,
    ],
    ['a command by another name', 'tasks: { a: { cmd: make } }', 1, 15, /no key "cmd". Did you mean "run"\?/],
    ['an order by another name', 'tasks: { a: { run: x, needs: b } }', 1, 23, /no key "needs". Did you mean "after"\?/],
    ['an unknown key at the top', 'task: {}', 1, 1, /no key "task". Did you mean "tasks"\?/],
    [
      'an unknown key of a question',
      'tasks:\n  a: { ask: { question: q, defualt: 1 } }',
      2,
      28,
      /Did you mean "default"\?/,
    ],
    [
      'an unknown key of retry',
      'tasks:\n  a: { run: x, retry: { maxAttempt: 1 } }',
      2,
      25,
      /Did you mean "maxAttempts"\?/,
    ],
    [
      'a missing dependency, nearest named',
      'tasks:\n  alpha: { run: x }\n  b: { run: y, after: alpa }',
      3,
      23,
      /after "alpa".*Did you mean "alpha"\?/,
    ],
    [
      'a dependency inside a group',
      'tasks:\n  g: { tasks: { x: { run: x } } }\n  b: { run: y, after: x }',
      3,
      23,
      /inside the group "g"/,
    ],
    [
      'a cycle, with its path',
      'tasks:\n  a: { run: x, after: c }\n  b: { run: y, after: a }\n  c: { run: z, after: b }',
      2,
      23,
      /a → b → c → a/,
    ],
    [
      'a dependency that is missing',
      'tasks:\n  build: { run: x }\n  test: { run: y, after: biuld }',
      3,
      26,
      /there is no such task at the top of the plan\. Did you mean "build"\? It may come after: build\./,
    ],
    ['a task that comes after itself', 'tasks:\n  a: { run: x, after: a }', 2, 23, /a → a/],
    ['a bare number as time-out', 'tasks:\n  a: { run: x, timeout: 90 }', 2, 25, /90 has no unit.*90s/],
    ['a time-out that is none', 'tasks:\n  a: { run: x, timeout: soon }', 2, 25, /expected a duration/],
    ['both time-outs', 'tasks:\n  a: { run: x, timeout: 1s, timeoutMs: 1 }', 2, 29, /keep one/],
    ['a goal beside a command', 'tasks:\n  a: { run: x, goal: Write it }', 2, 16, /both `run` and `goal`/],
    ['a model of a command', 'tasks:\n  a: { run: x, model: "openai:x" }', 2, 16, /`model`.*nothing beside `run`/],
    ['a model that is none', 'tasks:\n  a: { goal: x, model: gpt }', 2, 24, /a model like "openai:gpt-5-mini"/],
    [
      'abilities that are none',
      'tasks:\n  a: { goal: x, abilities: ["fs read"] }',
      2,
      29,
      /list of abilities|id of an ability/,
    ],
    ['both system prompts', 'tasks:\n  a: { goal: x, system: y, systemPrompt: z }', 2, 28, /keep one/],
    ['a key', 'tasks:\n  a: { run: x, key: k }', 2, 16, /--key/],
    ['nothing to do', 'tasks:\n  a: { priority: 1 }', 2, 6, /nothing to do/],
    ['two kinds of work', 'tasks:\n  a: { run: x, tasks: { b: { run: y } } }', 2, 16, /both `run` and `tasks`/],
    ['what means nothing beside the work', 'tasks:\n  a: { ask: q, cwd: x }', 2, 16, /`cwd`.*nothing beside `ask`/],
    ['an unknown executor', 'tasks:\n  a: { executor: shel }', 2, 18, /Did you mean "shell"\?/],
    ['a retry that is none', 'tasks:\n  a: { run: x, retry: often }', 2, 23, /number of attempts/],
    ['a variable that is none', 'tasks:\n  a: { run: x, env: { 1a: 1 } }', 2, 27, /name of a variable/],
    ['a secret without a name', 'tasks:\n  a: { run: x, env: { A: { secret: "" } } }', 2, 36, /environment variable/],
    ['a time that is none', 'tasks:\n  a: { run: x, notBefore: soon }', 2, 27, /expected a time/],
    ['the name of the mark as metadata', 'tasks:\n  a: { run: x, metadata: { plan: 1 } }', 2, 28, /metadata "plan"/],
    ['a name with a slash', 'tasks:\n  a/b: { run: x }', 2, 3, /not usable/],
    [
      'an answer by an unknown audience',
      'tasks:\n  a: { ask: { question: q, for: robots } }',
      2,
      33,
      /ask\.for: expected one of person, anyone, got "robots"/,
    ],
    [
      'a number that JSON does not have',
      'tasks:\n  a: { executor: x, input: { n: [1, .nan] } }',
      2,
      37,
      /JSON cannot carry NaN/,
    ],
    ['an empty group', 'tasks:\n  g: { tasks: {} }', 2, 6, /The group "g" has no tasks/],
    ['no tasks', 'tasks: {}', 1, 1, /The plan has no tasks/],
    ['a list for tasks', 'tasks: [a]', 1, 8, /tasks by name/],
    [
      'two results under one name',
      'tasks:\n  a b: { run: x }\n  a_b: { run: x }\n  g: { after: a b, tasks: { c: { run: x }, d: { run: y } } }\n  e: { run: y, after: [a b, a_b] }',
      5,
      23,
      /"e" comes after "a b" and "a_b".* \$ERRAND_RESULT_a_b/,
    ],
    [
      'a result under the name of the file of another',
      'tasks:\n  a: { run: x }\n  FILE_a: { run: x }\n  e: { run: y, after: [a, FILE_a] }',
      4,
      23,
      /"e" comes after "a" and "FILE_a".* \$ERRAND_RESULT_FILE_a/,
    ],
    ['a task that is no mapping', 'tasks:\n  a: make', 2, 6, /must be a mapping/],
    ['a plan that is no mapping', '- a', 1, 1, /must be a mapping.*a list/],
  ])('a plan with %s is refused with line and column', (_what, text, line, column, message) => {
    const error = refusalOf(text)
    expect(error.code).toBe('INVALID_PLAN')
    expect(error.message).toMatch(message)
    expect(error.message).toMatch(new RegExp(`^plan\\.yaml:${line}:${column}: `))
    expect(error.details).toMatchObject({ file: 'plan.yaml', line, column })
  })

  it('a plan that is nested too deep is refused with the limit', () => {
    const nested = (levels: number) => `tasks: { a: { run: x, input: ${'['.repeat(levels)}${']'.repeat(levels)} } }`
    // The plan, its `tasks` and the task itself are three levels.
    expect(planOf(nested(61)).byPath.size).toBe(1)
    const itself = 'tasks: { a: { run: x, metadata: &m { a: *m } } }'
    const block = Array.from({ length: 20_000 }, (_, level) => `${' '.repeat(Math.min(level, 900))}a:`).join('\n')
    for (const text of [nested(62), nested(5_000), nested(200_000), itself, block.slice(0, 400_000)]) {
      const error = refusalOf(text)
      expect(error.code).toBe('INVALID_PLAN')
      expect(error.message).toMatch(/^plan\.yaml:.* nested too deep: at most 64 /)
    }
    expect(refusalOf(nested(62)).message).toMatch(/^plan\.yaml:1:91: /)
  })

  it.each([
    ['cron: "0 9 * * *"\ntasks: { a: { run: make } }', 1, 'The plan has `cron`: '],
    ['tasks:\n  a: { run: make, every: 2h }', 2, 'The task "a" has `every`: '],
  ])('a plan with times is refused with the command to use', (text, line, begin) => {
    const { code, message, details } = refusalOf(text)
    expect(code).toBe('INVALID_PLAN')
    expect(details).toMatchObject({ line })
    expect(message).toContain(begin)
    expect(message).toContain('errand schedule add NAME --every 2h --run "errand run FILE"')
  })

  it('an empty plan file is refused without a position', () => {
    expect(refusalOf('').message).toMatch(/^plan\.yaml: The plan must be a mapping.*nothing/)
  })
})

it('a plan may have two results of one name where no command reads both', () => {
  const texts = [
    'tasks: { a b: { run: x }, a_b: { run: x }, c: { run: x, after: a_b } }',
    'tasks: { a b: { run: x }, a_b: { run: x }, c: { ask: x, after: [a b, a_b] } }',
    'tasks: { 构建: { run: x }, 测试: { run: x }, c: { run: x, after: [构建, 测试] } }',
  ]
  for (const text of texts) expect(planOf(text).byPath.size).toBe(3)
})

describe('a plan file', () => {
  it('a plan file that does not exist is NOT_FOUND', async () => {
    await expect(readPlan('missing.yaml', '/nowhere', commandLineExecutors)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: /missing\.yaml/,
    })
  })

  it.each([
    ['Latin-1', Buffer.from('tasks:\n  a: { run: caf\u00e9 }', 'latin1'), 2, 16],
    ['UTF-16', Buffer.from('\ufefftasks: { a: { run: x } }', 'utf16le'), 1, 1],
    ['UTF-16 without a mark', Buffer.from('tasks: { a: { run: x } }', 'utf16le'), 1, 2],
  ])('a plan file in %s is refused because it is not UTF-8', async (_what, bytes, line, column) => {
    const folder = await mkdtemp(join(tmpdir(), 'errand-plan-'))
    try {
      await writeFile(join(folder, 'bad.yaml'), bytes)
      await expect(readPlan('bad.yaml', folder, commandLineExecutors)).rejects.toMatchObject({
        code: 'INVALID_PLAN',
        message: `bad.yaml:${line}:${column}: The file is not UTF-8 text. Save it as UTF-8.`,
      })
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('errors name a plan file as the user named it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'errand-plan-'))
    try {
      await writeFile(join(folder, 'bad.yaml'), 'tasks: 3')
      await expect(readPlan('bad.yaml', folder, commandLineExecutors)).rejects.toMatchObject({
        code: 'INVALID_PLAN',
        message: /^bad\.yaml:1:8: /,
      })
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
