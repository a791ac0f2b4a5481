// The category of a fact, by the type of the observation and by its words.
import { describe, expect, it } from 'vitest'
import { type CategoryRule, defaultRules, inferCategory } from '../../src/entities/fact-category.ts'

const categoryOf = (text: string, rules?: readonly CategoryRule[]) => inferCategory('insight', text, rules)

/** The category of a text by one rule of one word. */
const has = (word: string, text: string) => categoryOf(text, [{ category: 'found', words: [word] }]) === 'found'

describe('the category of a fact', () => {
  it.each([
    ['bug_fix', 'Found a bug in the parser'],
    ['bug_fix', 'Two bugs'],
    ['bug_fix', "That bug's origin"],
    ['bug_fix', 'The scanner is buggy'],
    ['bug_fix', 'A fix was needed'],
    ['bug_fix', 'Fixes the build'],
    ['bug_fix', 'It is fixed now'],
    ['bug_fix', 'Fixing it took long'],
    ['bug_fix', 'The errors are gone'],
    ['bug_fix', 'One issue remains'],
    ['bug_fix', 'Issues’ labels'],
    ['architecture', 'Ask an architect'],
    ['architecture', 'The architects agreed'],
    ['architecture', 'Its architecture is layered'],
    ['architecture', 'An architectural boundary'],
    ['architecture', 'They designed it for one user'],
    ['architecture', 'Structuring the modules helps'],
    ['architecture', 'A structural change'],
    ['security', 'Security matters'],
    ['security', 'Two vulnerabilities'],
    ['security', 'A vulnerable version'],
    ['security', 'The auth_token is read twice'],
    ['security', 'auth-middleware runs first'],
    ['security', 'authn and authz are apart'],
    ['security', 'The authenticator app'],
    ['security', 'Authorization by role'],
    ['security', 'Only authorised people'],
    ['performance', 'Performance went down'],
    ['performance', 'Latencies above the limit'],
    ['performance', 'The bottlenecks are elsewhere'],
    ['pattern', 'They follow naming conventions'],
    ['pattern', 'The repository pattern'],
    ['insight', 'The sky is blue'],
    ['insight', ''],
  ])('S2-091 the category of a fact is %s for "%s"', (category, text) => {
    expect(categoryOf(text)).toBe(category)
  })

  it('S2-092 decision and discovery come from the type of the observation, regardless of its words', () => {
    expect(inferCategory('decision', 'Fix the auth bug')).toBe('decision')
    expect(inferCategory('discovery', 'Fix the auth bug')).toBe('discovery')
    expect(inferCategory('insight', 'Fix the auth bug')).toBe('bug_fix')
  })

  it('S2-092 the first rule that matches decides, wherever in the text its word is', () => {
    expect(categoryOf('Security by design, with one bug')).toBe('bug_fix')
    expect(categoryOf('Security by design')).toBe('architecture')
    expect(categoryOf('A convention for the latency of auth')).toBe('security')
    expect(categoryOf('A convention for latency')).toBe('performance')
  })

  it('S2-093 authentication is in the category security', () => {
    expect(categoryOf('Authentication needs two factors')).toBe('security')
  })

  it.each([
    'The prefix is long',
    'A paper tissue',
    'The author left',
    'Several authors and an authority',
    'A test fixture',
    'Attach the debugger',
    'Run an errand',
    'Sign in with oauth',
    'An erroneous assumption',
    'Infrastructure as code',
    'The authenticity of a text',
  ])('S2-093 a rule does not match inside another word: "%s"', (text) => {
    expect(categoryOf(text)).toBe('insight')
  })

  it('S2-094 a rule matches letters of any case and width', () => {
    expect(categoryOf('BUG')).toBe('bug_fix')
    expect(categoryOf('SeCuRiTy')).toBe('security')
    expect(categoryOf('ｂｕｇ')).toBe('bug_fix')
    expect(has('Bug', 'two BUGS')).toBe(true)
  })

  it('S2-093 the given rules of fact categories are applied in their order', () => {
    const rules = [
      { category: 'cooking', words: ['salt', 'pepper'] },
      { category: 'arch', words: ['pepper', 'arch'] },
    ]
    expect(categoryOf('Pepper, then a bug', rules)).toBe('cooking')
    expect(categoryOf('Two arches', rules)).toBe('architecture')
    expect(categoryOf('A bug', rules)).toBe('insight')
    expect(categoryOf('A bug', [])).toBe('insight')
    expect(categoryOf('A bug', [...rules, ...defaultRules])).toBe('bug_fix')
    expect(categoryOf('Pepper again', rules)).toBe('cooking')
  })
})

describe('a word of a rule', () => {
  it.each([
    ['bug', ['bugs', 'bugged', 'bugging', 'bugger'], ['buged', 'buging', 'bugle', 'bug1']],
    ['submit', ['submits', 'submitted', 'submitting', 'submitter'], ['submission']],
    ['error', ['errors', 'errored'], ['terror']],
    ['crash', ['crashes', 'crashed', 'crashing'], ['crashs']],
    ['query', ['queries', 'queried', 'querying', 'query’s'], ['querys']],
    ['deploy', ['deploys', 'deployed', 'deployers'], ['deploies', 'redeploy']],
    ['cache', ['caches', 'cached', 'caching', 'cacher'], ['cach', 'cachet']],
    ['agree', ['agrees', 'agreed', 'agreeing'], ['agre']],
    ['authenticate', ['authentication', 'authenticators', 'authenticating'], ['authentic']],
    ['authorise', ['authorisation', 'authorised'], ['author', 'authors']],
    ['structure', ['structural', 'structurally', 'structured'], ['infrastructure']],
    ['race condition', ['a race conditions b', 'race condition'], ['race conditional', 'grace condition']],
  ])('the word "%s" of a rule matches with English endings, and not inside another word', (word, found, notFound) => {
    for (const text of [word, ...found]) expect([text, has(word, text)]).toEqual([text, true])
    for (const text of notFound) expect([text, has(word, text)]).toEqual([text, false])
  })

  it('a word of a rule is not a regular expression', () => {
    expect(has('c++', 'Written in C++, mostly')).toBe(true)
    expect(has('c++', 'ccc')).toBe(false)
    expect(has('node.js', 'nodexjs')).toBe(false)
    expect(has('a|b', 'b')).toBe(false)
    expect(has('i/o (slow)', 'Found i/o (slow) here')).toBe(true)
  })

  it('S2-090 a word of a rule in another script matches exactly, as a whole word', () => {
    expect(has('ошибка', 'Найдена ОШИБКА в модуле')).toBe(true)
    expect(has('ошибка', 'ошибками')).toBe(false)
    expect(has('größe', 'Die Größe zählt')).toBe(true)
    expect(has('größe', 'Größen')).toBe(false)
  })

  it('S2-090 a word of a rule matches inside a run of a script without spaces', () => {
    expect(has('漏洞', '修复了登录漏洞。')).toBe(true)
    expect(has('漏洞', '修复了登录')).toBe(false)
    expect(has('auth', '修复auth漏洞')).toBe(true)
    expect(has('auth', '修复author漏洞')).toBe(false)
  })

  it('a blank word of a rule matches nothing', () => {
    expect(has('', 'any text')).toBe(false)
    expect(has('  ', 'any  text')).toBe(false)
    expect(has(' fix ', 'a fix')).toBe(true)
  })
})
