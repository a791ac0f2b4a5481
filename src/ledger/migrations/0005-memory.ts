// Memory and teams: observations, facts and their indexes, the record of decisions about them, and the team of a task on which several
// agents work. Memory has no foreign key to tasks: it outlives purged ones.
import { type ColumnDefinitionBuilder, type Compilable, sql } from 'kysely'
import type { Migration, Spelling } from './migration.ts'

export const memory: Migration = {
  name: 'memory',
  statements: (spelling) => [
    ...branchTable(spelling),
    ...observationTable(spelling),
    ...factTable(spelling),
    ...factWordTable(spelling),
    ...factTextTable(spelling),
    ...factVectorTable(spelling),
    ...consolidationTables(spelling),
    ...teamTables(spelling),
    ...guards(spelling),
  ],
}

const memorable = sql.raw(`type in ('insight', 'decision', 'discovery')`)
const comparable = sql.raw(`status = 'active' and category <> 'summary'`)

function branchTable({ db, integer, risingType, rising, strict }: Spelling): Compilable[] {
  const { schema } = db
  return [
    strict(
      schema
        .createTable('branch')
        .addColumn('seq', risingType, rising)
        .addColumn('name', 'text', (column) => column.notNull().unique())
        .addColumn('parent', 'text', (column) => column.references('branch.name'))
        .addColumn('description', 'text', (column) => column.notNull())
        .addColumn('status', 'text', (column) =>
          column.notNull().check(sql`status in ('active', 'merged', 'archived')`),
        )
        .addColumn('task_id', 'text')
        .addColumn('agent_id', 'text')
        .addColumn('created_at', integer, (column) => column.notNull())
        .addColumn('updated_at', integer, (column) => column.notNull())
        .addCheckConstraint('branch_main_is_the_root', sql`(parent is null) = (name = 'main')`)
        .addCheckConstraint('branch_main_is_active', sql`name <> 'main' or status = 'active'`)
        .addCheckConstraint('branch_is_not_its_parent', sql`parent <> name`),
    ),
    schema.createIndex('branch_child').on('branch').columns(['parent', 'seq']),
    schema
      .createIndex('branch_of_task')
      .on('branch')
      .columns(['task_id', 'seq'])
      .where(sql.ref('task_id'), 'is not', null),
    raw(
      db,
      `insert into branch (name, parent, description, status, task_id, agent_id, created_at, updated_at)
       values ('main', null, '', 'active', null, null, 0, 0)`,
    ),
  ]
}

function observationTable({ db, integer, risingType, rising, strict }: Spelling): Compilable[] {
  const { schema } = db
  const pending = (name: string, columns: string[]) =>
    schema
      .createIndex(name)
      .on('observation')
      .columns(columns)
      .where(sql<boolean>`consolidated_by is null and ${memorable}`)
  return [
    strict(
      schema
        .createTable('observation')
        .addColumn('seq', risingType, rising)
        .addColumn('id', 'text', (column) => column.notNull().unique())
        .addColumn('session_id', 'text', (column) => column.notNull())
        .addColumn('branch', 'text', (column) => column.notNull().references('branch.name'))
        .addColumn('type', 'text', (column) =>
          column.notNull().check(sql`type in ('tool_use', 'discovery', 'decision', 'error', 'insight')`),
        )
        .addColumn('content', 'text', (column) => column.notNull())
        .addColumn('outcome', 'text')
        .addColumn('task_id', 'text')
        .addColumn('agent_id', 'text')
        .addColumn('created_at', integer, (column) => column.notNull())
        .addColumn('consolidated_by', 'text'),
    ),
    pending('observation_pending', ['session_id', 'branch', 'seq']),
    pending('observation_pending_on', ['branch', 'seq', 'session_id']),
    schema.createIndex('observation_on').on('observation').columns(['branch', 'seq']),
    schema.createIndex('observation_of_session').on('observation').columns(['session_id', 'seq']),
    ...['task', 'agent'].map((whose) =>
      schema
        .createIndex(`observation_of_${whose}`)
        .on('observation')
        .columns([`${whose}_id`, 'seq'])
        .where(sql.ref(`${whose}_id`), 'is not', null),
    ),
  ]
}

function factTable({ db, integer, risingType, rising, strict }: Spelling): Compilable[] {
  const { schema } = db
  return [
    strict(
      schema
        .createTable('fact')
        .addColumn('seq', risingType, rising)
        .addColumn('id', 'text', (column) => column.notNull().unique())
        .addColumn('branch', 'text', (column) => column.notNull().references('branch.name'))
        .addColumn('text', 'text', (column) => column.notNull())
        .addColumn('category', 'text', (column) => column.notNull())
        .addColumn('confidence', integer, (column) => column.notNull().check(sql`confidence between 0 and 100`))
        .addColumn('session_id', 'text')
        .addColumn('task_id', 'text')
        .addColumn('agent_id', 'text')
        .addColumn('observation_id', 'text')
        .addColumn('origin_id', 'text')
        .addColumn('status', 'text', (column) => column.notNull().check(sql`status in ('active', 'superseded')`))
        .addColumn('successor_id', 'text')
        .addColumn('disputed', integer, (column) => column.notNull().check(sql`disputed in (0, 1)`))
        .addColumn('verdict', 'text', (column) => column.check(sql`verdict in ('durable', 'ephemeral')`))
        .addColumn('compared_by', 'text')
        .addColumn('merged_to', 'text')
        .addColumn('merged_confidence', integer)
        .addColumn('subject', 'text', (column) => column.notNull())
        .addColumn('created_at', integer, (column) => column.notNull())
        .addColumn('updated_at', integer, (column) => column.notNull())
        .addCheckConstraint('fact_superseded_has_successor', sql`(successor_id is not null) = (status = 'superseded')`)
        .addCheckConstraint('fact_is_not_its_successor', sql`successor_id <> id`),
    ),
    schema.createIndex('fact_on').on('fact').columns(['branch', 'status', 'seq']),
    schema
      .createIndex('fact_subject')
      .on('fact')
      .columns(['branch', 'subject'])
      .where(sql<boolean>`${comparable} and subject <> ''`),
    schema
      .createIndex('fact_compared')
      .on('fact')
      .columns(['branch', 'compared_by', 'seq'])
      .where(sql<boolean>`${comparable}`),
    schema
      .createIndex('fact_unmerged')
      .on('fact')
      .columns(['branch', 'seq'])
      .where(sql<boolean>`${comparable} and merged_confidence is distinct from confidence`),
    schema
      .createIndex('fact_summary')
      .on('fact')
      .columns(['branch', 'agent_id'])
      .where(sql<boolean>`status = 'active' and category = 'summary'`),
  ]
}

/** The facts in which a word is found: active ones that are not summaries, by their number of words. */
function factWordTable({ db, integer, keyOnly }: Spelling): Compilable[] {
  return [
    keyOnly(
      db.schema
        .createTable('fact_word')
        .addColumn('branch', integer, (column) => column.notNull())
        .addColumn('word', 'text', (column) => column.notNull())
        .addColumn('size', integer, (column) => column.notNull())
        .addColumn('fact', integer, (column) => column.notNull())
        .addPrimaryKeyConstraint('fact_word_key', ['branch', 'word', 'size', 'fact']),
    ),
  ]
}

/**
 * The same facts for searches, by the stems of their words. Each database has an index of its own for that, which the builder cannot
 * express. FTS5 keeps no text (the fact has it) and no positions. `ascii` counts all non-ASCII characters as letters, which is right
 * because it receives words and blanks only, and no Unicode table of a later version then changes what a word is.
 */
function factTextTable({ kind, db }: Spelling): Compilable[] {
  const texts =
    kind === 'sqlite'
      ? [
          `create virtual table fact_text using fts5(
             words, content = '', contentless_delete = 1, detail = none, tokenize = 'porter ascii')`,
        ]
      : [
          `create table fact_text (fact bigint not null primary key, branch bigint not null, words text[] not null)`,
          `create index fact_text_words on fact_text using gin (words)`,
        ]
  return texts.map((text) => raw(db, text))
}

function factVectorTable({ db, integer, strict }: Spelling): Compilable[] {
  return [
    strict(
      db.schema
        .createTable('fact_vector')
        .addColumn('fact', integer, (column) => column.notNull().references('fact.seq'))
        .addColumn('model', 'text', (column) => column.notNull())
        .addColumn('vector', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('fact_vector_key', ['fact', 'model']),
    ),
  ]
}

function consolidationTables({ db, integer, real, risingType, rising, strict }: Spelling): Compilable[] {
  const { schema } = db
  const count = (column: ColumnDefinitionBuilder) => column.notNull()
  return [
    strict(
      schema
        .createTable('consolidation')
        .addColumn('seq', risingType, rising)
        .addColumn('id', 'text', (column) => column.notNull().unique())
        .addColumn('type', 'text', (column) =>
          column
            .notNull()
            .check(sql`type in ('session_end', 'agent_complete', 'task_checkpoint', 'project_checkpoint', 'merge')`),
        )
        .addColumn('source_branch', 'text', (column) => column.notNull().references('branch.name'))
        .addColumn('target_branch', 'text', (column) => column.notNull().references('branch.name'))
        .addColumn('session_id', 'text')
        .addColumn('agent_id', 'text')
        .addColumn('task_id', 'text')
        .addColumn('trigger', 'text', (column) => column.notNull())
        .addColumn('observations_processed', integer, count)
        .addColumn('facts_created', integer, count)
        .addColumn('facts_updated', integer, count)
        .addColumn('facts_deduplicated', integer, count)
        .addColumn('durable', integer)
        .addColumn('ephemeral', integer)
        .addColumn('merged', integer)
        .addColumn('rejected', integer)
        .addColumn('summary', 'text')
        .addColumn('at', integer, (column) => column.notNull()),
    ),
    schema.createIndex('consolidation_of_type').on('consolidation').columns(['type', 'seq']),
    schema.createIndex('consolidation_from').on('consolidation').columns(['source_branch', 'seq']),
    schema.createIndex('consolidation_into').on('consolidation').columns(['target_branch', 'seq']),
    ...['task', 'agent', 'session'].map((whose) =>
      schema
        .createIndex(`consolidation_of_${whose}`)
        .on('consolidation')
        .columns([`${whose}_id`, 'seq'])
        .where(sql.ref(`${whose}_id`), 'is not', null),
    ),
    strict(
      schema
        .createTable('decision')
        .addColumn('seq', risingType, rising)
        .addColumn('consolidation_id', 'text', (column) => column.notNull().references('consolidation.id'))
        .addColumn('kind', 'text', (column) =>
          column
            .notNull()
            .check(
              sql`kind in ('created', 'boosted', 'confirmed', 'superseded', 'summarized', 'carried', 'judged', 'contradicted', 'settled')`,
            ),
        )
        .addColumn('fact_id', 'text', (column) => column.notNull())
        .addColumn('other_id', 'text')
        .addColumn('observation_id', 'text')
        .addColumn('similarity', real)
        .addColumn('before', integer)
        .addColumn('after', integer)
        .addColumn('note', 'text'),
    ),
    schema.createIndex('decision_on').on('decision').columns(['fact_id', 'seq']),
    schema
      .createIndex('decision_naming')
      .on('decision')
      .columns(['other_id', 'seq'])
      .where(sql.ref('other_id'), 'is not', null),
    schema.createIndex('decision_of').on('decision').columns(['consolidation_id', 'seq']),
  ]
}

function teamTables({ db, integer, risingType, rising, strict }: Spelling): Compilable[] {
  const { schema } = db
  return [
    strict(
      schema
        .createTable('team')
        .addColumn('task_id', 'text', (column) => column.notNull().primaryKey().references('task.id'))
        .addColumn('type', 'text')
        .addColumn('branch', 'text', (column) => column.notNull().unique().references('branch.name'))
        .addColumn('parent_branch', 'text', (column) => column.notNull().references('branch.name'))
        .addColumn('durable_threshold', integer, (column) => column.check(sql`durable_threshold between 0 and 100`))
        .addColumn('durable_categories', 'text')
        .addColumn('summary', 'text')
        .addColumn('checkpoint_id', 'text')
        .addColumn('merge_id', 'text')
        .addColumn('closed_at', integer)
        .addColumn('created_at', integer, (column) => column.notNull()),
    ),
    schema.createIndex('team_of_type').on('team').column('type'),
    schema.createIndex('team_below').on('team').column('parent_branch'),
    schema.createIndex('team_unclosed').on('team').column('task_id').where(sql.ref('closed_at'), 'is', null),
    strict(
      schema
        .createTable('objective')
        .addColumn('task_id', 'text', (column) => column.notNull().references('task.id'))
        .addColumn('number', integer, (column) => column.notNull().check(sql`number >= 1`))
        .addColumn('description', 'text', (column) => column.notNull())
        .addColumn('status', 'text', (column) =>
          column.notNull().check(sql`status in ('todo', 'active', 'done', 'blocked')`),
        )
        .addColumn('agent_id', 'text')
        .addColumn('notes', 'text')
        .addColumn('updated_at', integer, (column) => column.notNull())
        .addPrimaryKeyConstraint('objective_key', ['task_id', 'number']),
    ),
    // `seq` belongs to this table alone: the order in which agents joined, also within a millisecond.
    strict(
      schema
        .createTable('stint')
        .addColumn('seq', risingType, rising)
        .addColumn('task_id', 'text', (column) => column.notNull().references('task.id'))
        .addColumn('agent_id', 'text', (column) => column.notNull())
        .addColumn('number', integer, (column) => column.notNull().check(sql`number >= 1`))
        .addColumn('role', 'text')
        .addColumn('branch', 'text', (column) => column.notNull().references('branch.name'))
        .addColumn('status', 'text', (column) => column.notNull().check(sql`status in ('active', 'completed')`))
        .addColumn('objectives', 'text', (column) => column.notNull())
        .addColumn('summary', 'text')
        .addColumn('worker_id', 'text')
        .addColumn('joined_at', integer, (column) => column.notNull())
        .addColumn('left_at', integer)
        .addUniqueConstraint('stint_key', ['task_id', 'agent_id', 'number'])
        .addCheckConstraint('stint_completed_has_time', sql`(left_at is not null) = (status = 'completed')`),
    ),
    // An agent works once at a time on a task: a second active stint cannot be written.
    schema
      .createIndex('stint_one_active')
      .unique()
      .on('stint')
      .columns(['task_id', 'agent_id'])
      .where(sql.ref('status'), '=', sql`'active'`),
    schema
      .createIndex('stint_of_worker')
      .on('stint')
      .column('worker_id')
      .where(sql<boolean>`status = 'active' and worker_id is not null`),
    schema.createIndex('stint_of_task').on('stint').columns(['task_id', 'seq']),
    schema.createIndex('stint_on').on('stint').column('branch'),
    schema.createIndex('stint_of_agent').on('stint').columns(['agent_id', 'seq']),
  ]
}

/** What no writer may do, through any connection: change the text of a fact, revive one, rewrite or shorten the record. */
function guards({ kind, db }: Spelling): Compilable[] {
  const kept = ['consolidation', 'decision'].flatMap((table) => [
    { name: `${table}_is_immutable`, table, on: 'update', when: '', message: `a ${table} never changes` },
    { name: `${table}_is_kept`, table, on: 'delete', when: '', message: `a ${table} is never deleted` },
  ])
  const rules = [
    {
      name: 'fact_says_the_same',
      table: 'fact',
      on: 'update of text, branch, category',
      when: 'old.text <> new.text or old.branch <> new.branch or old.category <> new.category',
      message: 'what a fact says never changes',
    },
    {
      name: 'fact_stays_superseded',
      table: 'fact',
      on: 'update of status',
      when: `old.status = 'superseded' and new.status <> old.status`,
      message: 'a superseded fact never returns',
    },
    {
      name: 'observation_is_consumed_once',
      table: 'observation',
      on: 'update of consolidated_by',
      when: 'old.consolidated_by is not null and new.consolidated_by is distinct from old.consolidated_by',
      message: 'an observation is taken up once',
    },
    ...kept,
  ]
  return rules.flatMap(({ name, table, on, when, message }) => {
    const condition = when === '' ? '' : ` when (${when})`
    const texts =
      kind === 'sqlite'
        ? [`create trigger ${name} before ${on} on ${table}${condition} begin select raise(abort, '${message}'); end`]
        : [
            `create function ${name}() returns trigger language plpgsql as $$ begin raise exception '${message}'; end $$`,
            `create trigger ${name} before ${on} on ${table} for each row${condition} execute function ${name}()`,
          ]
    return texts.map((text) => raw(db, text))
  })
}

function raw(db: Spelling['db'], text: string): Compilable {
  return { compile: () => sql.raw(text).compile(db) } as Compilable
}
