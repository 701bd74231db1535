"""The names that files may hold, and where the class of each is: an allow-list.

A name never changes once a file may hold it; what it stands for may be renamed and moved, and is changed here
alone. The module is imported when a file names it, and registers the class. Classes of users are not in here:
they are registered when the module of the user is imported.
"""

from __future__ import annotations

from collections.abc import Mapping

STORED: Mapping[str, str] = {
    "Blocking": "clustruct.features.blocking:Blocking",
    "BoostedColumn": "clustruct.features.similarity.trees:BoostedColumn",
    "CCCPResult": "clustruct.papers.universum.concave_convex:CCCPResult",
    "CLGR": "clustruct.papers.document_clustering:CLGR",
    "CPM3C": "clustruct.papers.cpm3c:CPM3C",
    "CPM3CResult": "clustruct.papers.cpm3c:CPM3CResult",
    "Calibration": "clustruct.learning.calibration.calibration:Calibration",
    "Certificate": "clustruct.ssvm.result:Certificate",
    "ColumnReading": "clustruct.data.readings:ColumnReading",
    "Constant": "clustruct.features.pair_features:Constant",
    "Dates": "clustruct.features.blocks.numbers:Dates",
    "DefaultClustering": "clustruct.estimators.baselines.pair_classifier:DefaultClustering",
    "DocumentVectors": "clustruct.features.document_vectors:DocumentVectors",
    "Elsewhere": "clustruct.features.blocks.terms:Elsewhere",
    "FieldNeed": "clustruct.features.needs:FieldNeed",
    "FitResult": "clustruct.ssvm.result:FitResult",
    "ForestColumn": "clustruct.features.similarity.trees:ForestColumn",
    "FourierMap": "clustruct.features.similarity.kernels:FourierMap",
    "FullProducts": "clustruct.features.similarity.bilinear_map:FullProducts",
    "HeldOutF": "clustruct.learning.model_selection.held_out_f:HeldOutF",
    "Identity": "clustruct.ssvm.checkpoint:Identity",
    "ItemRule": "clustruct.learning.calibration.item_probability:ItemRule",
    "KeptPairs": "clustruct.pipeline.training_pairs:KeptPairs",
    "Kernel": "clustruct.core.kernels:Kernel",
    "KernelMap": "clustruct.features.similarity.kernels:KernelMap",
    "KernelModel": "clustruct.ssvm.kernelized:KernelModel",
    "LatentPairClustering": "clustruct.estimators.baselines.latent_pairs:LatentPairClustering",
    "LinearSVC": "clustruct.estimators.baselines.pair_classifier:LinearSVC",
    "Links": "clustruct.features.blocks.links:Links",
    "Lists": "clustruct.features.blocks.terms:Lists",
    "LogisticRegression": "clustruct.estimators.baselines.pair_classifier:LogisticRegression",
    "Mentions": "clustruct.features.blocks.mentions:Mentions",
    "MonotoneLogistic": "clustruct.learning.calibration.item_probability:MonotoneLogistic",
    "MultiLabelMRF": "clustruct.papers.multilabel.estimator:MultiLabelMRF",
    "Numbers": "clustruct.features.blocks.numbers:Numbers",
    "NystroemMap": "clustruct.features.similarity.kernels:NystroemMap",
    "PLSA": "clustruct.papers.document_clustering:PLSA",
    "PLSAResult": "clustruct.papers.document_clustering:PLSAResult",
    "PairContext": "clustruct.learning.calibration.pair_probability:PairContext",
    "PairFeatures": "clustruct.features.pair_features:PairFeatures",
    "PairKMeans": "clustruct.estimators.baselines.pair_kmeans:PairKMeans",
    "PairwiseClassifierClustering": "clustruct.estimators.baselines.pair_classifier:PairwiseClassifierClustering",  # noqa: E501
    "PastTraining": "clustruct.ssvm.result:PastTraining",
    "Pipeline": "clustruct.pipeline.pipelines:Pipeline",
    "Planes": "clustruct.ssvm.result:Planes",
    "PrecisionCurve": "clustruct.learning.calibration.precision_curve:PrecisionCurve",
    "Recipe": "clustruct.pipeline.recipe:Recipe",
    "ScoreMap": "clustruct.learning.calibration.pair_probability:ScoreMap",
    "Sources": "clustruct.features.blocking:Sources",
    "Strings": "clustruct.features.blocks.strings:Strings",
    "SupervisedAgglomerative": "clustruct.estimators.supervised_agglomerative:SupervisedAgglomerative",
    "SupervisedCorrelationClustering": "clustruct.estimators.correlation:SupervisedCorrelationClustering",
    "SupervisedKMeans": "clustruct.estimators.supervised_kmeans:SupervisedKMeans",
    "TermWeights": "clustruct.features.term_weights:TermWeights",
    "Terms": "clustruct.features.blocks.terms:Terms",
    "TextCosines": "clustruct.features.blocks.text_cosines:TextCosines",
    "TableSketch": "clustruct.estimators.table_sketch:TableSketch",
    "TrainingShape": "clustruct.estimators.training_shape:TrainingShape",
    "TreeColumn": "clustruct.features.similarity.trees:TreeColumn",
    "Trees": "clustruct.features.similarity.plain_trees:Trees",
    "UniversumClustering": "clustruct.papers.universum.margin_clustering:UniversumClustering",
    "UntrainedKMeans": "clustruct.estimators.baselines.pair_kmeans:UntrainedKMeans",
    "VectorSum": "clustruct.ssvm.kernelized:VectorSum",
    "Vectors": "clustruct.features.blocks.vectors:Vectors",
    "b_cubed": "clustruct.losses.cluster_tables:BCubedLoss",
    "ceaf_entity": "clustruct.losses.ceaf:CEAFEntityLoss",
    "ceaf_mention": "clustruct.losses.ceaf:CEAFMentionLoss",
    "checkpoint": "clustruct.ssvm.checkpoint:Saved",
    "fit checkpoint": "clustruct.learning.problems.saved_training:SavedFit",
    "hook document": "clustruct.papers.hooks.model_files:Document",
    "hook model": "clustruct.papers.hooks.model_files:HookModel",
    "hook vector": "clustruct.papers.hooks.model_files:Sparse",
    "lea": "clustruct.losses.cluster_tables:LEALoss",
    "mitre": "clustruct.losses.counts:MitreLoss",
    "normalised": "clustruct.losses.normalised:NormalisedLoss",
    "pairwise": "clustruct.losses.counts:PairwiseLoss",
    "pairwise_f": "clustruct.losses.pairwise_f:PairwiseFLoss",
    "purity": "clustruct.losses.purity:MutualPurityLoss",
    "variation_of_information": "clustruct.losses.cluster_tables:VariationOfInformationLoss",
}
# Parameters and fields that have another name in the code than in files: by the stored name of the class, the
# name in the code and the one in files.
FIELDS: Mapping[str, Mapping[str, str]] = {}
# Of an estimator's state, what holds names as well (`EstimatorState`).
INNER = ("parameters", "learned")
